// The command line that the drivers and the ladder share.
#ifndef COMMON_TESTER_OPTIONS_H
#define COMMON_TESTER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "step.h"

enum options_for { OPTIONS_FOR_DRIVER = 1, OPTIONS_FOR_LADDER = 2 };
enum options_outcome { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_LIST, OPTIONS_BAD };

// Fills o from tester_defaults and the command line. On OPTIONS_BAD, error holds one line that names the option, the
// text given and what is allowed. May reorder argv; o->json points into it.
enum options_outcome tester_options_parse(struct tester_options *o, enum options_for program, int argc, char **argv,
                                          char error[DEV_ERROR_MAX]);

void tester_options_help(FILE *out, enum options_for program, const char *name);  // the text of --help

#endif
