// progress grade: points for each exercise, from what its check says of the kernel.cu. The same on every machine: the
// simulated GPU alone is asked.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "question.h"

// Grades n exercises. check: the folder of the programs check_NAME. As a table for people, or as JSON:
//
//   { "points": 480, "of": 1800, "exercises": [ { "name": "05_float4", "title": "...", "state": "done", "points": 100,
//     "passed": [ "the result is right", ... ], "failed": [ ... ] }, ... ] }
//
// state: "not started", "started", "done" (all passes), "missing" (no kernel.cu) or "does not compile". The points of
// an exercise are its share of the questions that pass now and did not pass with the stub. What the stub passes already
// earns nothing, and costs points if it is broken. False, with a line on stderr, if a check cannot be started.
bool grade(FILE *out, const char *check, const char *const *names, int n, bool json);
