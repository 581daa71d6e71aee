// The rules of mutants for Hopper's steps: calls of common/hopper.cuh removed or with an argument that is off, stages
// that are off by one, the order of tiles, and the instructions of that header itself. See mutate.h.
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
    { "launch_wait", MUTANT_TMA, CALL, NULL, NULL },
    { "tma_load", MUTANT_TMA, CALL, NULL, NULL },
    { "tma_load", MUTANT_TMA, 3, "", " + 1" },
    { "tma_load", MUTANT_TMA, 4, "", " + 1" },
    { "tma_store", MUTANT_STORE, CALL, NULL, NULL },
    { "tma_store", MUTANT_STORE, 1, "", " + 64" },
    { "tma_store", MUTANT_STORE, 2, "", " + 1" },
    { "tma_store", MUTANT_STORE, 3, "", " + 1" },
    { "proxy_fence", MUTANT_STORE, CALL, NULL, NULL },
    { "bulk_commit", MUTANT_STORE, CALL, NULL, NULL },
    { "cluster_barrier", MUTANT_STORE, CALL, NULL, NULL },
    { "load_from", MUTANT_STORE, 1, "0 * ", "" },
    { "named_barrier", MUTANT_ROLE, CALL, NULL, NULL },
    { "named_barrier", MUTANT_ROLE, 0, "", " + 1" },
    { "named_barrier", MUTANT_ROLE, 1, "", " + 32" },
    { "named_barrier", MUTANT_ROLE, 1, "", " - 32" },
    { "place", MUTANT_PLACE, CALL, NULL, NULL },
    { "next", MUTANT_STAGE, CALL, NULL, NULL },
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

// What takes a row and a column of a matrix, the place of the row among its arguments.
static const struct {
    const char *function;
    enum mutant_rule rule;
    int row;
} boxes[] = { { "tma_load", MUTANT_TMA, 3 }, { "tma_store", MUTANT_STORE, 2 } };

static void swap_coordinates(struct mutants *s, enum mutant_rule rule, const struct range row, const struct range col,
                             char text[2][64])
{
    const struct range both[] = { col, row };
    for (int i = 0; i < 2; i++) {
        cr_assert_lt(both[i].to - both[i].from, 64);
        memcpy(text[i], s->text + both[i].from, both[i].to - both[i].from);
    }
    mutants_add(s, rule, 2, (struct edit[]){ { row.from, row.to, text[0] }, { col.from, col.to, text[1] } });
}

// Calls stand in kernel.cu, and in headers that come after hopper.cuh: what they call is there.
static size_t calls_begin(const struct mutants *s)
{
    for (unsigned i = 0; i + 1 < s->n_files; i++)
        if (!strcmp(s->files[i].name, "hopper.cuh"))
            return s->files[i + 1].begins;
    return s->kernel;
}

static void swap_all_coordinates(struct mutants *s)
{
    enum { CALLS_MAX = 8 };
    static char swapped[2 * CALLS_MAX][64];
    int n = 0;
    for (size_t i = calls_begin(s); i < s->size; i++)
        for (size_t k = 0; k < sizeof boxes / sizeof *boxes; k++) {
            const size_t open = i + strlen(boxes[k].function);
            struct range args[ARGUMENTS_MAX];
            if (!code_word_at(s, i, boxes[k].function) || s->code[open] != '(')
                continue;
            cr_assert_lt(boxes[k].row + 1, find_arguments(s, open, args));
            cr_assert_lt(n, CALLS_MAX);
            swap_coordinates(s, boxes[k].rule, args[boxes[k].row], args[boxes[k].row + 1], &swapped[2 * n++]);
        }
}

// The last argument of wgmma says whether the product is added: it guards no access, and shows in the result.
static void rename_guards_of_sums(struct mutants *s)
{
    static const char call[] = "wgmma(acc";
    for (size_t i = 0; i < s->n; i++) {
        size_t at = s->all[i].edits[0].from;
        while (at > s->kernel && s->code[at] != ';' && !code_starts(s, at, call))
            at--;
        if (s->all[i].rule == MUTANT_GUARD && code_starts(s, at, call))
            s->all[i].rule = MUTANT_WGMMA;
    }
}

// The parenthesis of a call whose name ends at `at`, behind what a template is given: wgmma_descriptor<SPLIT>(
static size_t open_of(const struct mutants *s, size_t at)
{
    return s->code[at] == '<' ? at + strcspn(s->code + at, ">") + 1 : at;
}

static void break_calls(struct mutants *s)
{
    for (size_t i = calls_begin(s); i < s->size; i++)
        for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
            const size_t open = open_of(s, i + strlen(calls[k].function));
            struct range args[ARGUMENTS_MAX];
            if (!code_word_at(s, i, calls[k].function) || s->code[open] != '(')
                continue;
            const int n = find_arguments(s, open, args), at = calls[k].argument;
            if (at == CALL) {
                mutants_add(s, calls[k].rule, 1, &(struct edit){ i, code_closing(s, open) + 1, "void(0)" });
                continue;
            }
            cr_assert_lt(at, n);
            mutants_add(s, calls[k].rule, 2,
                        (struct edit[]){ { args[at].from, args[at].from, calls[k].before },
                                         { args[at].to, args[at].to, calls[k].after } });
        }
}

// --- calls whose number is a template's: bulk_wait<0>() ---

static const struct {
    const char *function;
    enum mutant_rule rule;
    const char *after;  // of the number; NULL: the call is removed
} numbers[] = {
    { "bulk_wait", MUTANT_STORE, NULL },      { "bulk_wait", MUTANT_STORE, " + 1" },
    { "bulk_wait_read", MUTANT_STORE, NULL }, { "bulk_wait_read", MUTANT_STORE, " + 1" },
    { "fewer_registers", MUTANT_ROLE, NULL }, { "fewer_registers", MUTANT_ROLE, " + 16" },
    { "more_registers", MUTANT_ROLE, NULL },  { "more_registers", MUTANT_ROLE, " + 16" },
};

static void break_numbers(struct mutants *s)
{
    for (size_t i = calls_begin(s); i < s->size; i++)
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            const size_t open = i + strlen(numbers[k].function), end = open + strcspn(s->code + open, ">");
            if (!code_word_at(s, i, numbers[k].function) || s->code[open] != '<')
                continue;
            if (numbers[k].after)
                mutants_add(s, numbers[k].rule, 1, &(struct edit){ end, end, numbers[k].after });
            else
                mutants_add(s, numbers[k].rule, 1, &(struct edit){ i, code_closing(s, end + 1) + 1, "void(0)" });
        }
}

// --- the order of tiles ---

static void swap_operators(struct mutants *s, size_t from, size_t to)
{
    static const char *const operators[][2] = {
        { " * ", " + " }, { " / ", " % " }, { " % ", " / " }, { " + ", " - " }, { " - ", " + " }
    };
    for (size_t i = from; i < to; i++)
        for (size_t k = 0; k < sizeof operators / sizeof *operators; k++)
            if (code_starts(s, i, operators[k][0]))
                mutants_add(s, MUTANT_PLACE, 1, &(struct edit){ i, i + 3, operators[k][1] });
    for (size_t i = 0; i < s->n; i++)  // its guards, too
        if (s->all[i].edits[0].from > from && s->all[i].edits[0].from < to)
            s->all[i].rule = MUTANT_PLACE;
}

// The loops over a block's tiles.
static void break_loops(struct mutants *s, size_t from)
{
    static const char first[] = "int i = blockIdx.x", step[] = "i += gridDim.x";
    for (size_t i = from; i < s->size; i++) {
        const size_t number = i + strlen("int i = "), size = i + strlen("i += ");
        if (s->in_for[i] && code_starts(s, i, first))
            mutants_add(s, MUTANT_PLACE, 1, &(struct edit){ number, i + strlen(first), "0" });
        if (s->in_for[i] && code_starts(s, i, step))
            mutants_add(s, MUTANT_PLACE, 1, &(struct edit){ size, size, "1 + " });
    }
}

// Which part of K a block multiplies, which blocks share a tile, and whether descriptors know of the cluster.
static void break_parts(struct mutants *s, size_t from)
{
    static const char all[] = "const int all = ", skipped[] = "tile += skip", parts[] = "blockIdx.x / parts",
                      split[] = "wgmma_descriptor<SPLIT>";
    for (size_t i = from; i < s->size; i++) {
        if (code_starts(s, i, all))
            swap_operators(s, i + strcspn(s->code + i, ","), code_line_ends(s, code_line_ends(s, i) + 1));
        if (code_starts(s, i, skipped))
            mutants_add(s, MUTANT_PLACE, 1, &(struct edit){ i, i + strlen(skipped), "void(0)" });
        if (code_starts(s, i, parts))
            mutants_add(s, MUTANT_PLACE, 1, &(struct edit){ i + strlen("blockIdx.x"), i + strlen(parts), "" });
        if (code_starts(s, i, split))
            mutants_add(s, MUTANT_WGMMA, 1, &(struct edit){ i, i + strlen(split), "wgmma_descriptor<false>" });
    }
}

// place(blockIdx.y * across + blockIdx.x, ...): which tile a block has that computes no other.
static void break_number(struct mutants *s, size_t from)
{
    static const char number[] = "place(blockIdx.y";
    for (size_t i = from; i < s->size; i++)
        if (code_starts(s, i, number))
            swap_operators(s, i, i + strcspn(s->code + i, ","));
}

// place() says where a tile of C lies.
static void break_places(struct mutants *s)
{
    const char *place = strstr(s->code + s->kernel, "auto place = ");
    if (!place)
        return;
    const size_t from = (size_t)(place - s->code) + strcspn(place, "{");
    swap_operators(s, from, code_closing(s, from));
    break_number(s, from);
    break_loops(s, from);
    break_parts(s, from);
}

// --- stages ---

static void next_of(struct mutants *s, size_t from, size_t to)
{
    mutants_add(s, MUTANT_STAGE, 2, (struct edit[]){ { from, from, "(" }, { to, to, " + 1) % STAGES" } });
}

// The stage, and the mbarriers, one too far: s * STAGE, full[s], int s = ... % STAGES, (tile + 1) % STAGES. The first
// stage and parity: int s = 0, parity = 0.
static void shift_stages(struct mutants *s)
{
    static const char *const first[] = { "s = 0,", "parity = 0;" };
    static const char stage_of[] = ") % STAGES";
    for (size_t i = s->kernel; i < s->size; i++) {
        const size_t end = i + strcspn(s->code + i, ",;");
        if (code_word_at(s, i, "s") && code_starts(s, i, "s * STAGE"))
            next_of(s, i, i + 1);
        for (int k = 0; code_barriers[k]; k++) {
            const size_t open = i + strlen(code_barriers[k]);
            if (code_word_at(s, i, code_barriers[k]) && s->code[open] == '[' && !code_line_has(s, i, "__shared__"))
                next_of(s, open + 1, code_closing(s, open));
        }
        if (code_starts(s, i, " = ") && code_ends(s, i, "int s") && code_ends(s, end, " % STAGES"))
            next_of(s, i + 3, end);
        if (code_starts(s, i, stage_of) &&
            (code_starts(s, i + strlen(stage_of), ")") || code_starts(s, i + strlen(stage_of), " * STAGE")))
            mutants_add(s, MUTANT_STAGE, 1, &(struct edit){ i, i, " + 1" });
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
    { MUTANT_STORE, "{%1, %2}], [%3]", "{%2, %1}], [%3]" },
    { MUTANT_STORE, "{%1, %2, %3, %4};", "{%1, %3, %2, %4};" },
    { MUTANT_WGMMA, "address / 16", "address" },
    { MUTANT_WGMMA, "leading / 16", "leading" },
    { MUTANT_WGMMA, "stride / 16", "stride" },
    { MUTANT_WGMMA, "uint64_t(1) << 62", "uint64_t(2) << 62" },
    { MUTANT_WGMMA, "uint64_t(1) << 62", "uint64_t(0) << 62" },
    { MUTANT_WGMMA, "setp.ne.b32 add", "setp.eq.b32 add" },
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
    rename_guards_of_sums(s);
    break_calls(s);
    swap_all_coordinates(s);
    break_numbers(s);
    break_places(s);
    shift_stages(s);
    for (unsigned i = 0; i < s->n_files; i++)
        if (!strcmp(s->files[i].name, "hopper.cuh"))
            break_instructions(s, &s->files[i]);
}
