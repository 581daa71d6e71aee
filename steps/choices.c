// Shows the rule of step 20 (common/tester/choose.h): which kernel of a step a product takes on a card, and by how many
// cycles. Nothing runs.
//
//   build/steps/choices 20 512 1024 512x512x8192
//
// A shape is MxNxK, or one number for all three. Exit status: 0, or 2 if the command cannot be carried out.
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/occupancy.h"
#include "base/options.h"
#include "base/text.h"
#include "steps.h"
#include "tester/choose.h"

enum { BAD = 2, LARGEST = 1 << 20, SHAPE = 40 };

struct shape {
    int m, n, k;
};

struct command {
    const struct step *step;
    const struct card *card;
    bool all;  // every kernel that there is, and not only the one that is taken
};

static int tiles(const struct geometry *g, const struct shape *s)
{
    return ((s->m - 1) / g->bm + 1) * ((s->n - 1) / g->bn + 1);
}

static void print_head(const struct card *card)
{
    printf("On %s, %u SMs:\n", card->name, card->sms);
    printf("%-20s  %-18s  %13s  %8s  %10s\n", "M x N x K", "kernel", "blocks a tile", "blocks", "cycles");
}

static void print_row(const struct geometry *g, const struct shape *s, const struct card *card)
{
    char shape[SHAPE], blocks[TEXT_GROUPED], cycles[TEXT_GROUPED];
    const int parts = g->parts > 1 ? g->parts : 1;
    snprintf(shape, sizeof shape, "%d x %d x %d", s->m, s->n, s->k);
    text_grouped((uint64_t)tiles(g, s) * (uint64_t)parts, blocks);
    text_grouped((uint64_t)(choose_cycles(g, s->m, s->n, s->k, (int)card->sms) + 0.5), cycles);
    printf("%-20s  %-18s  %13d  %8s  %10s\n", shape, g->kernel, parts, blocks, cycles);
}

static void print_all(const struct geometries *g, const struct shape *s, const struct card *card)
{
    for (int i = 0; i < g->n; i++)
        for (int parts = g->all[i].split ? 2 : 1; parts <= (g->all[i].split ? CHOOSE_PARTS : 1); parts *= 2) {
            struct geometry one = g->all[i];
            one.parts = parts;
            print_row(&one, s, card);
        }
}

// --- the command ---

static void help(void)
{
    printf("usage: choices [options] STEP SHAPE...\n"
           "Shows which kernel of the step a product takes, and its cycles by the rule of step 20:\n"
           "    choices 20 512 1024 512x512x8192\n"
           "SHAPE is MxNxK, or one number for all three.\n"
           "  --card NAME      on which card (default H200)\n"
           "  --all            every kernel, with 2, 4 and 8 blocks a tile where it splits K\n"
           "  --help           this text\n");
}

static const struct step *step_named(const char *text)
{
    for (size_t i = 0; i < n_steps; i++)
        if (!strcmp(text, steps[i]->name) || (strlen(text) == 2 && !strncmp(text, steps[i]->name, 2)))
            return steps[i];
    fprintf(stderr, "choices: there is no step '%s'; there are", text);
    for (size_t i = 0; i < n_steps; i++)
        fprintf(stderr, "%s %s", i ? "," : "", steps[i]->name);
    fputc('\n', stderr);
    return NULL;
}

static bool parse_shape(const char *text, struct shape *s)
{
    int used = 0;
    if (sscanf(text, "%d%n", &s->m, &used) == 1 && !text[used])
        s->n = s->k = s->m;
    else if (sscanf(text, "%dx%dx%d%n", &s->m, &s->n, &s->k, &used) != 3 || text[used])
        used = 0;
    if (used && s->m > 0 && s->n > 0 && s->k > 0 && s->m <= LARGEST && s->n <= LARGEST && s->k <= LARGEST)
        return true;
    fprintf(stderr, "choices: '%s' is not MxNxK, of numbers from 1 to %d\n", text, LARGEST);
    return false;
}

static bool parse_card(const char *text, const struct card **card)
{
    char error[DEV_ERROR_MAX];
    if (options_card(text, card, error))
        return true;
    fprintf(stderr, "choices: %s\n", error);
    return false;
}

// False with a line on stderr, or after --help; *status is the program's then.
static bool parse_command(int argc, char **argv, struct command *k, int *status)
{
    static const struct option options[] = { { "card", required_argument, NULL, 'c' },
                                             { "all", no_argument, NULL, 'a' },
                                             { "help", no_argument, NULL, 'h' },
                                             { 0 } };
    char error[DEV_ERROR_MAX];
    *k = (struct command){ .card = card_named("H200") };
    *status = BAD;
    opterr = 0;  // its messages are ours
    for (int c; (c = getopt_long(argc, argv, ":", options, NULL)) != -1;) {
        if (c == 'c' && !parse_card(optarg, &k->card))
            return false;
        k->all |= c == 'a';
        if (c == 'h') {
            help();
            *status = 0;
            return false;
        }
        if (c == '?' || c == ':') {
            options_refuse(c, argv[optind - 1], options, error);
            fprintf(stderr, "choices: %s\n", error);
            return false;
        }
    }
    if (argc - optind < 2) {
        fputs("choices: a step and a shape are needed, as in: choices 20 512; --help lists the options\n", stderr);
        return false;
    }
    return (k->step = step_named(argv[optind]));
}

int main(int argc, char **argv)
{
    struct command k;
    struct geometries g;
    char error[DEV_ERROR_MAX];
    int status;
    if (!parse_command(argc, argv, &k, &status))
        return status;
    if (!geometries_read(k.step->ptx, &g, error)) {
        fprintf(stderr, "choices: %s\n", error);
        return BAD;
    }
    if (g.n == 1) {
        fprintf(stderr, "choices: %s has one kernel, for all shapes\n", k.step->name);
        return BAD;
    }
    struct shape shape;
    for (int i = optind + 1; i < argc; i++)
        if (!parse_shape(argv[i], &shape))
            return BAD;
    print_head(k.card);
    for (int i = optind + 1; i < argc && parse_shape(argv[i], &shape); i++) {
        const struct geometry best = choose_geometry(&g, shape.m, shape.n, shape.k, (int)k.card->sms);
        if (k.all)
            print_all(&g, &shape, k.card);
        else
            print_row(&best, &shape, k.card);
    }
    return fflush(stdout) ? BAD : 0;
}
