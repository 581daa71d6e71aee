// The command line that the drivers and the ladder share.
#ifndef COMMON_OPTIONS_H
#define COMMON_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tester.h"

enum options_for { OPTIONS_FOR_DRIVER = 1, OPTIONS_FOR_LADDER = 2 };
enum options_outcome { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_LIST, OPTIONS_BAD };

// Fills o from tester_defaults and the command line. On OPTIONS_BAD, error holds one line that names the option, the
// text given and what is allowed. May reorder argv; o->json points into it.
enum options_outcome options_parse(struct tester_options *o, enum options_for program, int argc, char **argv,
                                   char error[DEV_ERROR_MAX]);

void options_help(FILE *out, enum options_for program, const char *name);  // the text of --help

// Numbers as the command line takes them: the whole text, nothing before or after it, within min and max. Whole
// numbers are decimal digits alone; real ones are finite.
bool options_whole(const char *text, uint64_t min, uint64_t max, uint64_t *value);
bool options_real(const char *text, double min, double max, double *value);

// Opens the report's file for writing: NULL in *out where path is NULL, stdout for "-". False, with one line in error,
// where it cannot be written.
bool options_open_json(const char *path, FILE **out, char error[DEV_ERROR_MAX]);

#endif
