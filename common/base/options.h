// The command line of every program: a table of options, from which getopt_long, --help and the messages are made.
//
//     struct ask { bool all; int size; };
//     #define AT(field) OPTION_AT(struct ask, field)
//     static const struct option_row rows[] = {
//         { "all", NULL, "every kernel", AT(all) },
//         { "size", "S", "M, N and K (default 4096)", AT(size), 1, INT_MAX },
//         { 0 },
//     };
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "device.h"

struct card;

enum option_kind {
    OPTION_OWN,    // what the row's function makes of it
    OPTION_FLAG,   // a bool
    OPTION_INT,    // a whole number, in decimal digits alone, in 32 bits
    OPTION_WHOLE,  // the same in 64 bits
    OPTION_THREE,  // up to three of them, as in 4,2,1: an unsigned[3]; those left out get the least
    OPTION_REAL,   // a finite number
    OPTION_TEXT,   // not empty; it stays in argv
    OPTION_CARD,   // the name of a card
};

// The kind of option that fills this field, and where it is.
#define OPTION_AT(type, field)                                                                                         \
    .kind = _Generic(((type *)0)->field,            \
                bool: OPTION_FLAG,                  \
                int: OPTION_INT,                    \
                unsigned: OPTION_INT,               \
                unsigned *: OPTION_THREE,           \
                uint64_t: OPTION_WHOLE,             \
                double: OPTION_REAL,                \
                const char *: OPTION_TEXT,          \
                const struct card *: OPTION_CARD),  \
    .at = offsetof(type, field)
// The same where the row's function fills it.
#define OPTION_BY(function, type, field) .take = function, .at = offsetof(type, field)

struct option_word {
    const char *word;
    int value;
};
extern const struct option_word option_devices[];  // auto, gpu and sim

struct option_row {
    const char *name;      // without its two dashes
    const char *argument;  // what --help calls the value. NULL: it takes none, and stores 1; a no-... stores 0, or -1
    const char *help;
    enum option_kind kind;
    size_t at;                        // of what is stored, from the beginning of the program's struct
    uint64_t least, most;             // of numbers; both 0: any
    const struct option_word *words;  // in place of a number one of these, up to one without a word
    bool shape;  // of a number: MxNxK is allowed, too, for this int and the two that follow; else they are equal
    bool (*take)(void *at, const char *value);  // of a kind of its own: stores it, or returns false
    const char *must;                           // what it must be then: "FROM-TO"
    unsigned only;                              // the uses of the table that have this option, as bits; 0: all
};

// One use of a table: a program, or a command of it.
struct options {
    const char *program;  // with it begin the messages and --help
    const char *usage;    // behind it in --help; the rows follow, then the notes
    const char *notes;
    const struct option_row *rows;  // up to one without a name
    unsigned use;                   // a bit: which use this is; 0: --help shows every row
    const char *const *uses;        // what the bits are called, from bit 0 on, for messages
    int least, most;                // operands
    const char *needs;              // which ones, where there are too few or too many
};

enum options_outcome { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_BAD };

// Fills the struct *to, which holds the defaults; the operands are left in *argc and *argv, which is reordered. On
// OPTIONS_BAD error holds one line that names the option, the text given and what is allowed.
enum options_outcome options_read(const struct options *o, void *to, int *argc, char ***argv,
                                  char error[DEV_ERROR_MAX]);
void options_help(const struct options *o, FILE *out);

// The same for main, which returns *status if this is false: --help is printed, or the line on stderr.
bool options_begin(const struct options *o, void *to, int *argc, char ***argv, int *status);

// Numbers as the command line takes them: the whole text, nothing before or after it, within min and max. Whole
// numbers are decimal digits alone; real ones are finite.
bool options_whole(const char *text, uint64_t min, uint64_t max, uint64_t *value);
bool options_real(const char *text, double min, double max, double *value);
// Up to three whole numbers with the separator between them: how many there are; 0 where the text is anything else.
int options_numbers(const char *text, char separator, uint64_t min, uint64_t max, uint64_t value[3]);
// MxNxK, or one number for all three, from 1 to most; false, with one line in error, where it is neither.
bool options_shape(const char *text, int most, int shape[3], char error[DEV_ERROR_MAX]);

// Whether the file that an option names (option: "--out") can be written; "-" and NULL can. Asked before the work whose
// result goes there. False, with one line in error, if it cannot.
bool options_may_write(const char *option, const char *path, char error[DEV_ERROR_MAX]);
// Opens the report's file for writing: NULL in *out where path is NULL, stdout for "-". False, with one line in error,
// if it cannot be written.
bool options_open_json(const char *path, FILE **out, char error[DEV_ERROR_MAX]);
