// Shows the rule of step 20 (common/tester/choose.h): which kernel of a step a product takes on a card, and by how many
// cycles. Nothing runs.
//
//   build/choices 20 512 1024 512x512x8192
//
// A shape is MxNxK, or one number for all three. Exit status: 0, or 2 if the command cannot be carried out.
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/card.h"
#include "base/options.h"
#include "base/text.h"
#include "steps.h"
#include "tester/choose.h"

enum { BAD = 2, LARGEST = 1 << 20, SHAPE = 40 };

struct command {
    const struct card *card;
    bool all;  // every kernel that there is, and not only the one that is taken
};

#define AT(field) OPTION_AT(struct command, field)
static const struct option_row rows[] = {
    { "card", "NAME", "on which card (default H200)", AT(card) },
    { "all", NULL, "every kernel, with 2, 4 and 8 blocks a tile where it splits K", AT(all) },
    { 0 },
};
static const struct options table = {
    .program = "choices",
    .usage = "[OPTION]... STEP SHAPE...\n"
             "Shows which kernel of the step a product takes, and its cycles by the rule of step 20:\n"
             "    choices 20 512 1024 512x512x8192\n"
             "SHAPE is MxNxK, or one number for all three.",
    .rows = rows,
    .least = 2,
    .most = INT_MAX,
    .needs = "a step and a shape are needed, as in: choices 20 512",
};

static int tiles(const struct geometry *g, const int s[3])
{
    return ((s[0] - 1) / g->bm + 1) * ((s[1] - 1) / g->bn + 1);
}

static void print_head(const struct card *card)
{
    printf("On %s, %u SMs:\n", card->name, card->sms);
    printf("%-20s  %-18s  %13s  %8s  %10s\n", "M x N x K", "kernel", "blocks a tile", "blocks", "cycles");
}

static void print_row(const struct geometry *g, const int s[3], const struct card *card)
{
    char shape[SHAPE], blocks[TEXT_GROUPED], cycles[TEXT_GROUPED];
    const int parts = g->parts > 1 ? g->parts : 1;
    snprintf(shape, sizeof shape, "%d x %d x %d", s[0], s[1], s[2]);
    text_grouped((uint64_t)tiles(g, s) * (uint64_t)parts, blocks);
    text_grouped((uint64_t)(choose_cycles(g, s[0], s[1], s[2], (int)card->sms) + 0.5), cycles);
    printf("%-20s  %-18s  %13d  %8s  %10s\n", shape, g->kernel, parts, blocks, cycles);
}

static void print_all(const struct geometries *g, const int s[3], const struct card *card)
{
    for (int i = 0; i < g->n; i++)
        for (int parts = g->all[i].split ? 2 : 1; parts <= (g->all[i].split ? CHOOSE_PARTS : 1); parts *= 2) {
            struct geometry one = g->all[i];
            one.parts = parts;
            print_row(&one, s, card);
        }
}

// --- the command ---

// The steps whose compiler this build does not have. LEFT_OUT and WHY_LEFT_OUT: steps/meson.build.
static const char *const left_out[] = { LEFT_OUT NULL };

static const struct step *step_named(const char *text)
{
    for (size_t i = 0; i < n_steps; i++)
        if (text_means(text, steps[i]->name))
            return steps[i];
    for (int i = 0; left_out[i]; i++)
        if (text_means(text, left_out[i])) {
            fprintf(stderr, "choices: %s and its like are not in this build: %s\n", left_out[i], WHY_LEFT_OUT);
            return NULL;
        }
    fprintf(stderr, "choices: there is no step '%s'; there are", text);
    for (size_t i = 0; i < n_steps; i++)
        fprintf(stderr, "%s %s", i ? "," : "", steps[i]->name);
    fputc('\n', stderr);
    return NULL;
}

int main(int argc, char **argv)
{
    struct command k = { .card = card_meant(NULL) };
    struct geometries g;
    char error[DEV_ERROR_MAX];
    int status, s[3];
    if (!options_begin(&table, &k, &argc, &argv, &status))
        return status;
    const struct step *step = step_named(argv[0]);
    if (!step)
        return BAD;
    if (!geometries_read(step->ptx, &g, error)) {
        fprintf(stderr, "choices: %s\n", error);
        return BAD;
    }
    if (g.n == 1) {
        fprintf(stderr, "choices: %s has one kernel, for all shapes\n", step->name);
        return BAD;
    }
    for (int i = 1; i < argc; i++)
        if (!options_shape(argv[i], LARGEST, s, error)) {
            fprintf(stderr, "choices: %s\n", error);
            return BAD;
        }
    print_head(k.card);
    for (int i = 1; i < argc && options_shape(argv[i], LARGEST, s, error); i++) {
        const struct geometry best = choose_geometry(&g, s[0], s[1], s[2], (int)k.card->sms);
        if (k.all)
            print_all(&g, s, k.card);
        else
            print_row(&best, s, k.card);
    }
    return fflush(stdout) ? BAD : 0;
}
