// Pieces that the command lines of all programs are made of.
#ifndef COMMON_OPTIONS_H
#define COMMON_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "device.h"

// Numbers as the command line takes them: the whole text, nothing before or after it, within min and max. Whole
// numbers are decimal digits alone; real ones are finite.
bool options_whole(const char *text, uint64_t min, uint64_t max, uint64_t *value);
bool options_real(const char *text, double min, double max, double *value);

// False unless the text is auto, gpu or sim.
bool options_device(const char *text, enum dev_kind *kind);

struct option;
// What is wrong, in one line, where getopt_long returned '?', or ':' because its short options begin with one. word is
// the one that it looked at, argv[optind - 1].
void options_refuse(int returned, const char *word, const struct option *known, char error[DEV_ERROR_MAX]);

struct card;
// False, with one line in error that names the cards, unless the text is the name of one: then *card is it.
bool options_card(const char *text, const struct card **card, char error[DEV_ERROR_MAX]);

// Opens the report's file for writing: NULL in *out where path is NULL, stdout for "-". False, with one line in error,
// if it cannot be written.
bool options_open_json(const char *path, FILE **out, char error[DEV_ERROR_MAX]);

enum { OPTIONS_SHOWN = 64 };
// A copy of text that fits in a message of one line: control characters become '?', a long one is cut.
const char *options_shown(const char *text, char copy[OPTIONS_SHOWN]);

#endif
