// Pieces of reports that the drivers and the ladder share.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/json.h"
#include "tester.h"

#define REPORT_TIME 24

const char *report_verdict(enum tester_verdict verdict);     // "right", "WRONG", "unchecked"
const char *report_time(double ms, char text[REPORT_TIME]);  // three digits and a unit: "12.3 us", "4.56 ms"

void report_look(FILE *out, const struct tester_result *r);  // the lines that a wrong result is most likely due to

void report_detail(FILE *out, const struct dev_about *about);  // " (detail)" if the device has one, and the line's end

// On the simulated GPU, where launches of that many steps take minutes or more: one line that says how long, from
// `who`. o: settled.
void report_long_run(FILE *out, const char *who, const struct dev_about *about, const struct tester_options *o,
                     size_t steps);

// Append to the open JSON object: the counters of d's last launch and what its checks found; what was run on (detail,
// simulated, date, sizes, scalars, seed; not "device"), and what came out (verdict, what, times, rates).
void report_json_counters(struct json *j, struct dev *d, const struct tester_options *settled);
void report_json_setting(struct json *j, const struct dev *d, const struct tester_options *settled);
void report_json_verdict(struct json *j, const struct tester_result *r);  // verdict, what, and lines to look at
void report_json_changed(struct json *j, const struct tester_result *r);  // where it differs from the course's
void report_json_result(struct json *j, const struct tester_options *settled, const struct tester_result *r);
// What compiled the kernel, as "compiler"; nothing if its PTX does not say.
void report_json_compiler(struct json *j, const char *ptx);

// Writes "OPTION "NAME": cannot write it: REASON" to error, the reason from errno; returns false.
bool report_write_error(const char *option, const char *name, char error[DEV_ERROR_MAX]);
