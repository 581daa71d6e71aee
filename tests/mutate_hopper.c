// The rules of mutants for Hopper's steps: calls of common/hopper.cuh removed or with an argument that is off, stages
// that are off by one, and the instructions of that header itself. See mutate.h.
#include <criterion/criterion.h>
#include <string.h>

#include "mutate_text.h"

enum { CALL = -1, ARGUMENTS_MAX = 8 };

// --- calls ---

static const struct {
    const char *function;
    enum mutant_rule rule;
    int argument;  // which stands between before and after; CALL: the call is removed
    const char *before, *after;
} calls[] = {
    { "mbarrier_init", MUTANT_MBARRIER, CALL, NULL, NULL },
    { "mbarrier_init", MUTANT_MBARRIER, 1, "", " + 1" },
    { "mbarrier_init", MUTANT_MBARRIER, 1, "", " - 1" },
    { "mbarrier_init_fence", MUTANT_MBARRIER, CALL, NULL, NULL },
    { "mbarrier_expect", MUTANT_MBARRIER, CALL, NULL, NULL },
    { "mbarrier_expect", MUTANT_MBARRIER, 1, "", " + 16" },
    { "mbarrier_expect", MUTANT_MBARRIER, 1, "", " - 16" },
    { "mbarrier_expect", MUTANT_MBARRIER, 1, "0 * (", ")" },
    { "mbarrier_wait", MUTANT_MBARRIER, CALL, NULL, NULL },
    { "mbarrier_wait", MUTANT_MBARRIER, 1, "1 - (", ")" },
    { "mbarrier_arrive", MUTANT_MBARRIER, CALL, NULL, NULL },
    { "tma_load", MUTANT_TMA, CALL, NULL, NULL },
    { "tma_load", MUTANT_TMA, 3, "", " + 1" },
    { "tma_load", MUTANT_TMA, 4, "", " + 1" },
    { "wgmma_fence", MUTANT_WGMMA, CALL, NULL, NULL },
    { "wgmma_commit", MUTANT_WGMMA, CALL, NULL, NULL },
    { "wgmma_descriptor", MUTANT_WGMMA, 0, "", " + 8" },
    { "wgmma_descriptor", MUTANT_WGMMA, 1, "2 * (", ")" },
    { "wgmma_descriptor", MUTANT_WGMMA, 2, "2 * (", ")" },
    { "wgmma", MUTANT_WGMMA, 3, "1 || (", ")" },
    { "wgmma", MUTANT_WGMMA, 3, "0 && (", ")" },
};

struct range {
    size_t from, to;
};

// Of the call whose parenthesis is at `open`.
static int find_arguments(const struct mutants *s, size_t open, struct range out[ARGUMENTS_MAX])
{
    const size_t end = code_closing(s, open);
    int n = 0, depth = 0;
    out[0].from = open + 1;
    for (size_t at = open + 1; at <= end; at++) {
        if (at == end || (!depth && s->code[at] == ',')) {
            cr_assert_lt(n + 1, ARGUMENTS_MAX);
            out[n++].to = at;
            out[n].from = code_skip_blanks(s, at + 1);
        }
        depth += code_depth_of(s->code[at]);
    }
    return n;
}

static void swap_coordinates(struct mutants *s, const struct range row, const struct range col, char text[2][64])
{
    const struct range both[] = { col, row };
    for (int i = 0; i < 2; i++) {
        cr_assert_lt(both[i].to - both[i].from, 64);
        memcpy(text[i], s->text + both[i].from, both[i].to - both[i].from);
    }
    mutants_add(s, MUTANT_TMA, 2, (struct edit[]){ { row.from, row.to, text[0] }, { col.from, col.to, text[1] } });
}

static void break_calls(struct mutants *s)
{
    static char swapped[2 * ARGUMENTS_MAX][64];
    int n_swapped = 0;
    for (size_t i = s->kernel; i < s->size; i++)
        for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
            const size_t open = i + strlen(calls[k].function);
            struct range args[ARGUMENTS_MAX];
            if (!code_word_at(s, i, calls[k].function) || s->code[open] != '(')
                continue;
            const int n = find_arguments(s, open, args), at = calls[k].argument;
            if (at == CALL) {
                mutants_add(s, calls[k].rule, 1, &(struct edit){ i, code_closing(s, open) + 1, "" });
            } else {
                cr_assert_lt(at, n);
                mutants_add(s, calls[k].rule, 2,
                            (struct edit[]){ { args[at].from, args[at].from, calls[k].before },
                                             { args[at].to, args[at].to, calls[k].after } });
            }
            if (at == CALL && calls[k].rule == MUTANT_TMA) {
                cr_assert_lt(n_swapped, 2 * ARGUMENTS_MAX);
                swap_coordinates(s, args[3], args[4], &swapped[n_swapped]);
                n_swapped += 2;
            }
        }
}

// --- stages ---

static void next_of(struct mutants *s, size_t from, size_t to)
{
    mutants_add(s, MUTANT_STAGE, 2, (struct edit[]){ { from, from, "(" }, { to, to, " + 1) % STAGES" } });
}

// The stage, and the mbarriers, one too far: s * STAGE, full[s], int free = ... % STAGES. The first stage and parity:
// int s = 0, parity = 0.
static void shift_stages(struct mutants *s)
{
    static const char *const first[] = { "s = 0,", "parity = 0;" };
    for (size_t i = s->kernel; i < s->size; i++) {
        const size_t end = i + strcspn(s->code + i, ",;");
        if (code_word_at(s, i, "s") && code_starts(s, i, "s * STAGE"))
            next_of(s, i, i + 1);
        for (int k = 0; code_barriers[k]; k++) {
            const size_t open = i + strlen(code_barriers[k]);
            if (code_word_at(s, i, code_barriers[k]) && s->code[open] == '[' && !code_line_has(s, i, "__shared__"))
                next_of(s, open + 1, code_closing(s, open));
        }
        if (code_starts(s, i, " = ") && (code_ends(s, i, "int s") || code_ends(s, i, "int free")) &&
            code_ends(s, end, " % STAGES"))
            next_of(s, i + 3, end);
        for (int k = 0; k < 2; k++)
            if (code_starts(s, i, first[k]) && !code_is_word(s->code[i - 1]) && !s->in_for[i])
                mutants_add(s, MUTANT_STAGE, 1, &(struct edit){ end - 1, end, "1" });
    }
}

// --- hopper.cuh itself ---

static const struct {
    enum mutant_rule rule;
    const char *from, *to;
} instructions[] = {
    { MUTANT_MBARRIER, "fence.mbarrier_init.release.cluster;\\n", "" },
    { MUTANT_MBARRIER, "fence.proxy.async.shared::cta;", "" },
    { MUTANT_MBARRIER, "while (!done)", "while (false)" },
    { MUTANT_TMA, "\"r\"(col), \"r\"(row)", "\"r\"(row), \"r\"(col)" },
    { MUTANT_WGMMA, "shared_address(p) / 16", "shared_address(p)" },
    { MUTANT_WGMMA, "leading / 16", "leading" },
    { MUTANT_WGMMA, "stride / 16", "stride" },
    { MUTANT_WGMMA, "uint64_t(1) << 62", "uint64_t(2) << 62" },
    { MUTANT_WGMMA, "uint64_t(1) << 62", "uint64_t(0) << 62" },
    { MUTANT_WGMMA, "ne.b32 add, %130", "eq.b32 add, %130" },
    { MUTANT_WGMMA, "add, 1, 1, 0, 1;", "add, -1, 1, 0, 1;" },
    { MUTANT_WGMMA, "add, 1, 1, 0, 1;", "add, 1, -1, 0, 1;" },
    { MUTANT_WGMMA, "add, 1, 1, 0, 1;", "add, 1, 1, 1, 1;" },
    { MUTANT_WGMMA, "add, 1, 1, 0, 1;", "add, 1, 1, 0, 0;" },
};

static void break_instructions(struct mutants *s, const struct mutant_file *f)
{
    for (size_t k = 0; k < sizeof instructions / sizeof *instructions; k++) {
        const char *from = instructions[k].from, *at = strstr(s->text + f->begins, from);
        cr_assert(at, "%s: '%s' is not there", f->name, from);
        for (; at; at = strstr(at + 1, from)) {
            const size_t place = (size_t)(at - s->text);
            mutants_add(s, instructions[k].rule, 1, &(struct edit){ place, place + strlen(from), instructions[k].to });
        }
    }
}

void mutate_hopper(struct mutants *s)
{
    break_calls(s);
    shift_stages(s);
    for (unsigned i = 0; i < s->n_files; i++)
        if (!strcmp(s->files[i].name, "hopper.cuh"))
            break_instructions(s, &s->files[i]);
}
