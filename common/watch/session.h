// A session in a terminal: where one stands in a watched block, and the commands by which one goes on.
#pragma once

#include <stdio.h>

#include "terminal.h"
#include "watch.h"

enum { SESSION_LINE = 300, SESSION_WORDS = 5 };

struct session {
    struct simt *simt;
    struct simt_kernel *kernel;
    const struct dev_launch *launch;
    struct watch *watch;
    uint64_t at;          // the moment
    uint32_t warp, lane;  // whose steps are taken; SIMT_ALL_WARPS: those of all
    FILE *out;            // what commands show
    char *error;
    bool done, stuck;  // stuck: it was opened where the block ends with warps that wait
    uint32_t n;        // words of the command
    char line[SESSION_LINE];
    char *word[SESSION_WORDS + 1];
};

// Runs the launch and opens it at its first step; the session is filled in up to launch, and has out and error.
// watch_close(s->watch) in the end.
bool session_open(struct session *s, const struct watch_begin *begin);
// Goes to where the watch begins, and shows the step.
bool session_begin(struct session *s, const struct watch_begin *begin);
// One command: shows what it has to show, or returns false with one line in error. An empty one does nothing.
bool session_obey(struct session *s, const char *command);
