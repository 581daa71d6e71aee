// Tries sizes of a step's tiles, one after the other, and prints a table: what a learner would do by hand with an
// editor, and what a library does once for each card. Each row is a copy of the step's kernel.cu with other constants.
//
//   build/tune 05 BK=8,16 BM=64,128
//
// On a GPU a row has the time; on the simulated one, which has none, what a multiply-add costs. A size that cannot work
// is a row that says why. Exit status: 0 if a row is right, 1 if none is, 2 if the command cannot be carried out.
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/occupancy.h"
#include "base/profile.h"
#include "base/program.h"
#include "steps.h"
#include "device/open.h"
#include "tester/tester_options.h"
#include "tester/tester_report.h"

enum { NONE_WORKS = 1, BAD = 2, CHANGES = 6, VALUES = 16, NAME = 24 };

struct change {
    char name[NAME];  // of a constant: BK
    int values[VALUES], n;
};

// PTX_FLAGS are those of all steps; a target has flags of its own.
static const struct target {
    const char *step, *flags[8];
} targets[] = { PTX_TARGETS };
enum { TARGETS = sizeof targets / sizeof *targets };

struct command {
    const struct step *step;
    const struct target *target;
    struct change changes[CHANGES];
    int n;  // changes
    struct tester_options options;
};

static struct scratch cu, ptx;

// --- the copy ---

// Where the number of a constant begins: "constexpr int BM = 128, BN = 128;" has two. NULL if it has none.
static const char *number_of(const char *text, const char *name)
{
    char wanted[NAME + 8];
    const int n = snprintf(wanted, sizeof wanted, " %s = ", name);
    const char *at = strstr(text, wanted);
    return at && isdigit((unsigned char)at[n]) ? at + n : NULL;
}

static char *read_kernel(const char *step)
{
    char path[4096];
    snprintf(path, sizeof path, STEPS_FOLDER "/%s/kernel.cu", step);
    char *text = file_read(path);
    if (!text)
        perror(path);
    return text;
}

// The text with the number of a constant changed, in place of the old one, which is freed.
static char *with_constant(char *text, const char *name, int value)
{
    const char *at = number_of(text, name);
    char *changed;
    if (asprintf(&changed, "%.*s%d%s", (int)(at - text), text, value, at + strspn(at, "0123456789")) < 0)
        changed = NULL;
    free(text);
    return changed;
}

static bool write_copy(const char *step, const struct change *changes, int n, const int *pick)
{
    char *text = read_kernel(step);
    for (int c = 0; c < n && text; c++)
        text = with_constant(text, changes[c].name, changes[c].values[pick[c]]);
    const bool written = text && file_write(cu.path, text);
    free(text);
    return written;
}

// Compiles the copy. *said is what the compiler says, to be freed; NULL if it cannot be started.
static bool compile(const struct target *t, char **said)
{
    static const char *const flags[] = { PTX_FLAGS };
    enum { FLAGS = sizeof flags / sizeof *flags };
    char *argv[FLAGS + 16] = { (char *)PTX_COMPILER };
    int n = 1, status;
    for (int i = 0; i < FLAGS; i++)
        argv[n++] = (char *)flags[i];
    for (int i = 0; t->flags[i]; i++)
        argv[n++] = (char *)t->flags[i];
    argv[n++] = (char *)"-o";
    argv[n++] = ptx.path;
    argv[n++] = cu.path;
    return program_run(argv, said, &status) && !status;
}

// --- a row ---

// The compiler's first error, from "error" on; it may name the static_assert that does not hold. Most constants are
// divided by: a 0 is named.
static void print_refusal(const char *said, const struct command *k, const int *pick)
{
    const char *at = said ? strstr(said, "error") : NULL;
    for (int c = 0; at && strstr(at, "by zero") && c < k->n; c++)
        if (!k->changes[c].values[pick[c]]) {
            printf("  cannot work: %s is 0, and the kernel divides by it\n", k->changes[c].name);
            return;
        }
    at = at ? at : "it does not compile";
    printf("  cannot work: %.*s\n", (int)strcspn(at, "\n"), at);
}

// Blocks and warps of an SM, and what decides.
static void print_occupancy(const struct card *card)
{
    struct kernel_use use;
    struct geometry g;
    char error[DEV_ERROR_MAX];
    if (!geometry_read(ptx.path, &g, error) || !occupancy_ask(ptx.path, "gemm", card, &use)) {
        printf("  %9s  %6s", "-", "-");
        return;
    }
    const struct occupancy o = occupancy_of(card, (unsigned)g.threads, use.registers, (uint64_t)g.shared + use.shared);
    printf("  %9u  %6u", use.registers, o.warps);
}

// What a row says of speed: times on a GPU; counts of 1,000 multiply-adds on the simulated one.
enum { SPEED = 64 };
static void speed_text(struct dev *d, const struct tester_options *o, const struct tester_result *r, char text[SPEED])
{
    const struct profile *p = dev_profile(d);
    const double per = 1000 / ((double)o->m * o->n * o->k);
    *text = 0;
    if (r->gflops > 0)
        snprintf(text, SPEED, "  %9.3f  %8.1f", r->ms, r->gflops / 1000);
    else if (p)
        snprintf(text, SPEED, "  %9.2f  %9.2f  %9.2f", per * (double)p->total[METRIC_INST],
                 per * (double)p->total[METRIC_WAVE],
                 per * (double)(p->total[METRIC_GLD_SEC] + p->total[METRIC_GST_SEC]));
}

// Whether the result is right, at the shapes of again.h as well.
static bool print_run(struct dev *d, const struct step *given, const struct tester_options *o, const struct card *card)
{
    struct step step = *given;
    struct tester_result r, again = { .verdict = TESTER_UNCHECKED };
    struct dev *on = d;
    char error[DEV_ERROR_MAX], speed[SPEED];
    step.ptx = ptx.path;
    struct tester *t = tester_open(d, step.type, o, error);
    bool ran = t && tester_step(t, &step, &r, error);
    if (ran)
        speed_text(d, o, &r, speed);
    if (ran && r.verdict == TESTER_RIGHT && !o->once)
        ran = tester_again(t, &step, &again, &on, error);
    const bool wrong = ran && (r.verdict == TESTER_WRONG || again.verdict == TESTER_WRONG);
    if (on != d)
        dev_close(on);
    tester_close(t);
    if (!ran) {
        printf("  cannot work: %s\n", error);
        return false;
    }
    printf("  %-6s", wrong ? "WRONG" : "right");
    print_occupancy(card);
    printf("%s\n", speed);
    fflush(stdout);
    return !wrong;
}

static size_t combinations(const struct command *k)
{
    size_t n = 1;
    for (int c = 0; c < k->n; c++)
        n *= (size_t)k->changes[c].n;
    return n;
}

// All values of all constants, in the order of the command; the last one changes first. *works: one of them does. False
// with a line on stderr if a copy cannot be made.
static bool try_all(struct dev *d, const struct command *k, bool *works)
{
    int pick[CHANGES] = { 0 }, c;
    do {
        char *said = NULL;
        for (c = 0; c < k->n; c++) {
            const int width = (int)strlen(k->changes[c].name);
            printf("%*d", width > 5 ? width : 5, k->changes[c].values[pick[c]]);
        }
        if (!write_copy(k->target->step, k->changes, k->n, pick)) {
            fprintf(stderr, "tune: %s cannot be written\n", cu.path);
            return false;
        }
        if (compile(k->target, &said))
            *works |= print_run(d, k->step, &k->options, k->options.card);
        else
            print_refusal(said, k, pick);
        free(said);
        for (c = k->n - 1; c >= 0 && ++pick[c] == k->changes[c].n; c--)
            pick[c] = 0;
    } while (c >= 0);
    return true;
}

// --- the command ---

// "BK=8,16"
static bool parse_change(const char *text, struct change *c)
{
    const char *equals = strchr(text, '=');
    *c = (struct change){ 0 };
    if (!equals || equals == text || equals - text >= NAME)
        return false;
    memcpy(c->name, text, (size_t)(equals - text));
    for (const char *p = equals; *p;) {
        char *end;
        const long value = strtol(p + 1, &end, 10);
        if (end == p + 1 || value < 0 || value > 1 << 20 || (*end && *end != ',') || c->n == VALUES)
            return false;
        c->values[c->n++] = (int)value;
        p = end;
    }
    return c->n > 0;
}

static const struct step *step_of(const char *text, const struct target **t)
{
    for (size_t i = 0; i < n_steps; i++)
        for (int k = 0; k < TARGETS; k++)
            if (!strcmp(steps[i]->name, targets[k].step) &&
                (!strcmp(text, targets[k].step) || (strlen(text) == 2 && !strncmp(text, targets[k].step, 2)))) {
                *t = &targets[k];
                return steps[i];
            }
    return NULL;
}

static void refuse_step(const char *name)
{
    fprintf(stderr, "tune: there is no step '%s'; there are", name);
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        fprintf(stderr, "%s %s", i ? "," : "", targets[i].step);
    fputc('\n', stderr);
}

// The line names the constants of the kernel that can be changed.
static void refuse_constant(const char *step, const char *name, const char *text)
{
    fprintf(stderr, "tune: %s has no constant '%s = ' and a number; it has", step, name);
    int n = 0;
    for (const char *at = text; (at = strstr(at, " = ")); at += 3) {
        const char *from = at;
        while (from > text && (isupper((unsigned char)from[-1]) || isdigit((unsigned char)from[-1])))
            from--;
        if (from > text && from[-1] == ' ' && isupper((unsigned char)*from) && isdigit((unsigned char)at[3]))
            fprintf(stderr, "%s %.*s", n++ ? "," : "", (int)(at - from), from);
    }
    fputs(n ? "\n" : " none\n", stderr);
}

// The changes that the rest of the command line asks for; -1 with a line on stderr if one of them cannot be made.
static int parse_changes(char **argv, int n, const char *step, struct change changes[CHANGES])
{
    char *text = read_kernel(step);
    int taken = 0;
    for (int i = 0; text && i < n; i++) {
        if (!parse_change(argv[i], &changes[i])) {
            fprintf(stderr, "tune: '%s' is not NAME=VALUE[,VALUE...], of at most %d values\n", argv[i], VALUES);
            break;
        }
        if (!number_of(text, changes[i].name)) {
            refuse_constant(step, changes[i].name, text);
            break;
        }
        taken++;
    }
    free(text);
    return text && taken == n ? n : -1;
}

// False with a line on stderr, or after --help; *status is the program's then.
static bool parse_command(int argc, char **argv, struct command *k, int *status)
{
    struct options table = tester_options_for(OPTIONS_FOR_TUNE, "tune");
    table.usage = "STEP NAME=VALUE[,VALUE...] ... [OPTION]...\n"
                  "Tries every combination of these constants of the step's kernel.cu, and prints a row for each:\n"
                  "    tune 05 BK=8,16 BM=64,128";
    table.notes = "Exit status: 0 a row is right, 1 none is, 2 the command cannot be carried out.";
    table.least = 2;
    table.most = 1 + CHANGES;
    table.needs = "a step and up to 6 constants of its kernel are needed, as in: tune 05 BK=8,16";
    *k = (struct command){ .options = tester_defaults };
    k->options.card = card_meant(NULL);
    if (!options_begin(&table, &k->options, &argc, &argv, status))
        return false;
    *status = BAD;
    if (!(k->step = step_of(argv[0], &k->target))) {
        refuse_step(argv[0]);
        return false;
    }
    k->n = parse_changes(argv + 1, argc - 1, k->target->step, k->changes);
    return k->n >= 0;
}

static void print_head(const struct dev_about *about, const struct command *k)
{
    printf("%s on %s, M %d, N %d, K %d; warps of an SM as on %s\n", k->target->step, about->name, k->options.m,
           k->options.n, k->options.k, k->options.card->name);
    for (int c = 0; c < k->n; c++)
        printf("%5s", k->changes[c].name);
    printf("  %-6s  %9s  %6s  %s\n", "result", "registers", "warps",
           about->simulated ? "   instr.      waves    sectors   of 1,000 multiply-adds" : "       ms   TFLOP/s");
}

int main(int argc, char **argv)
{
    struct command k;
    char error[DEV_ERROR_MAX];
    int status;
    if (!parse_command(argc, argv, &k, &status))
        return status;
    struct dev *d = dev_open(k.options.device, error);
    if (!d || !scratch_open(&cu, "kernel.cu", "") || !scratch_open(&ptx, "kernel.ptx", NULL)) {
        fprintf(stderr, "tune: %s\n", d ? strerror(errno) : error);
        return BAD;
    }
    k.options = tester_settle(&k.options, dev_about(d));
    report_long_run(stderr, "tune", dev_about(d), &k.options, combinations(&k));
    print_head(dev_about(d), &k);
    bool works = false;
    const bool tried = try_all(d, &k, &works);
    scratch_close(&cu);
    scratch_close(&ptx);
    dev_close(d);
    if (tried && !works)
        fprintf(stderr, "tune: nothing works of what was tried; each row says why\n");
    return !tried ? BAD : works ? 0 : NONE_WORKS;
}
