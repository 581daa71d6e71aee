// The command line of the program `simt`: what it says, as data.
#pragma once

#include "base/occupancy.h"
#include "args.h"
#include "draw_command.h"
#include "simt/simt.h"

#define MAX_ARGS 64  // of a launch
#define MAX_LAUNCHES 16
#define MAX_REQUESTS 64  // --set, --dump and --show, of each

enum { EXIT_CLEAN, EXIT_FAULT, EXIT_UNABLE };

enum verb { VERB_NONE, VERB_INSPECT, VERB_RUN, VERB_PROFILE, VERB_CHECK, VERB_DRAW, VERB_WATCH };

struct launch {
    const char *name;            // as the user wrote it
    struct simt_kernel *kernel;  // run_command.c finds it
    struct simt_kernel_about about;
    unsigned grid[3], block[3];
    unsigned cluster[3];  // 0: not given
    uint64_t shared;      // bytes
    struct arg args[MAX_ARGS];
    size_t n_args;
};

struct request {  // --set NAME=ARG, --dump WHAT=FILE, --show WHAT[FROM:TO]
    char what[256];
    const char *value;  // after the '='
    size_t from, to;    // elements; to is SIZE_MAX where it is not given
};

struct requests {
    struct request all[MAX_REQUESTS];
    size_t n;
};

struct command {
    enum verb verb;
    const char *file, *json;
    uint64_t jobs, budget;  // 0: not given
    int sm;
    bool by_line, help;
    struct draw_command draw;  // its place is that of a watch, too
    uint64_t finding, launch;  // of a watch: their numbers, from 1 on; 0: not given
    char *again;               // the words behind the verb, as a command for the shell
    const struct card *card;
    struct launch next;  // what the options say of the next one
    struct launch launches[MAX_LAUNCHES];
    size_t n_launches;
    struct buffers buffers;
    struct requests sets, dumps, shows;
};

// Fills c, which is zeroed, from the command line; may reorder argv, which must outlive c. False, with one line in
// error, where it makes no sense.
bool command_parse(struct command *c, int argc, char **argv, char error[DEV_ERROR_MAX]);
void command_free(struct command *c);
void command_help(FILE *out);

// inspect.c: what is in a file; the exit status.
int command_inspect(struct simt_module *m);
// run_command.c: run, profile, check, draw and watch; the exit status.
// What the launch would take on c->card; as simt_predict.
struct simt_prediction *command_predict(const struct command *c, const struct launch *l, const struct dev_launch *how,
                                        char error[DEV_ERROR_MAX]);
int command_run(struct simt *s, struct simt_module *m, struct command *c);

// draw_product.c: the product that the launch computes, by its arguments, once their arrays are in device memory.
// picture->product is then out, or NULL: there is none, and tiles need none. False, with one line in error, where the
// picture needs one, or the arrays have other sizes.
bool draw_find_product(const struct launch *l, const struct buffers *all, struct simt_picture *picture,
                       struct simt_product *out, char error[DEV_ERROR_MAX]);

int command_unable(const char *message);  // says so on stderr; EXIT_UNABLE
