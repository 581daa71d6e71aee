// The rules of mutants that hold for every step. See mutate.h.
#include <criterion/criterion.h>
#include <ctype.h>
#include <string.h>

#include "mutate_text.h"

static void remove_barriers(struct mutants *s)
{
    for (size_t i = 0; i < s->size; i++)
        if (code_word_at(s, i, "__syncthreads") || code_word_at(s, i, "__syncwarp"))
            mutants_add(s, MUTANT_BARRIER, 1, &(struct edit){ i, i + strcspn(s->code + i, ";"), "" });
}

// As[r][c]: two mutants.
static void shift_indices(struct mutants *s)
{
    for (size_t i = 0; i < s->size; i++)
        for (int k = 0; code_tiles[k]; k++) {
            if (!code_word_at(s, i, code_tiles[k]) || code_line_has(s, i, "__shared__"))
                continue;
            for (size_t at = i + 2; s->code[at] == '['; at++) {
                at = code_closing(s, at);
                memcpy(mutants_add(s, MUTANT_INDEX, 1, &(struct edit){ at, at, " + 1" })->array, code_tiles[k], 3);
            }
        }
}

static size_t left_operand(const struct mutants *s, size_t at)
{
    for (int depth = 0; at; at--) {
        const char c = s->code[at - 1];
        depth -= code_depth_of(c);
        if (depth < 0 || (!depth && (strchr(",;=?:", c) || code_ends(s, at, "&&") || code_ends(s, at, "||") ||
                                     code_ends(s, at, "return "))))
            break;
    }
    return code_skip_blanks(s, at);
}

static size_t right_operand(const struct mutants *s, size_t at)
{
    for (int depth = 0; at < s->size; at++) {
        const char c = s->code[at];
        depth += code_depth_of(c);
        if (depth < 0 || (!depth && (strchr(",;?:", c) || code_starts(s, at, "&&") || code_starts(s, at, "||"))))
            break;
    }
    while (isspace((unsigned char)s->code[at - 1]))
        at--;
    return at;
}

// K % 4, which is 0 where rows start at multiples of 16 bytes.
static bool is_remainder(const struct mutants *s, size_t at, struct edit *out)
{
    if (!(code_word_at(s, at, "K") || code_word_at(s, at, "N")) || !code_starts(s, at + 1, " % "))
        return false;
    *out = (struct edit){ at, right_operand(s, at), "0" };
    return !memmem(s->code + at, out->to - at, "==", 2) && !code_line_has(s, at, "static_assert");
}

// A comparison that guards: not a loop's and not a constant's. == and != only with 0, as beta or a remainder, and with
// the first thread of the producer.
static bool is_comparison(const struct mutants *s, size_t at, struct edit *out)
{
    static const char *const operators[] = { " < ", " > ", " <= ", " >= ", " == 0", " != 0", " == CONSUMERS" };
    enum { OPERATORS = sizeof operators / sizeof *operators };
    size_t k = 0;
    while (k < OPERATORS && !code_starts(s, at, operators[k]))
        k++;
    if (k == OPERATORS || code_line_has(s, at, "static_assert") || code_line_has(s, at, "constexpr"))
        return false;
    *out = (struct edit){ left_operand(s, at), right_operand(s, at + (k < 2 ? 3 : 4)), "true" };
    const size_t after = code_skip_blanks(s, out->to + 1);
    const bool beta = code_word_at(s, out->from, "beta"),
               outside = code_starts(s, out->to + strcspn(s->code + out->to, "?;"), "? 0");
    if (code_ends(s, out->from, "whole || ") || code_ends(s, out->from, "== BK || "))
        return true;  // whole || c < depth: without a question
    // i >= rows ? 0 : ...; if (col >= ld) return;
    if (outside || (s->code[out->to] == ')' && code_starts(s, after, "return;")))
        out->with = "false";
    else if (code_starts(s, code_skip_blanks(s, out->to), "||") || code_ends(s, out->from, "|| ") || (beta && k == 4))
        out->with = "false";
    return beta || !s->in_for[at];
}

static bool joined(const struct mutants *s, const struct edit *a, const struct edit *b)
{
    const size_t at = code_skip_blanks(s, a->to);
    return (code_starts(s, at, "&&") || code_starts(s, at, "||")) && code_skip_blanks(s, at + 2) == b->from;
}

// Each condition alone, and all that are joined by && or || at once.
static void remove_conditions(struct mutants *s)
{
    struct edit group[MUTANT_EDITS], next;
    size_t n = 0;
    for (size_t i = 0; i <= s->size; i++) {
        const bool found = i < s->size && (is_comparison(s, i, &next) || is_remainder(s, i, &next));
        const bool joins = found && n && joined(s, &group[n - 1], &next);
        if (n > 1 && (i == s->size || (found && !joins)))
            mutants_add(s, MUTANT_GUARD, n, group);
        if (found) {
            mutants_add(s, MUTANT_GUARD, 1, &next);
            n = joins ? n : 0;
            cr_assert(n < MUTANT_EDITS);
            group[n++] = next;
        }
    }
}

// min(i, n - 1) -> (i); return inside ? ... -> return true ? ...; how many there are, left - acol or cols -> 8.
static void remove_other_guards(struct mutants *s)
{
    static const char *const counts[] = { "left - ", "first - ", "depth - ", "cols - ", "N - ", "cols :" };
    for (size_t i = 0; i < s->size; i++) {
        if (code_word_at(s, i, "min"))
            mutants_add(s, MUTANT_GUARD, 2,
                        (struct edit[]){ { i, i + 3, "" }, { right_operand(s, i + 4), code_closing(s, i + 3), "" } });
        const size_t name = i + strlen("return ");
        size_t end = name;
        while (code_word_at(s, i, "return") && code_is_word(s->code[end]))
            end++;
        if (end > name && code_starts(s, end, " ? "))
            mutants_add(s, MUTANT_GUARD, 1, &(struct edit){ name, end, "true" });
        for (int k = 0; k < 6; k++)
            if (code_starts(s, i, counts[k]) && (code_ends(s, i, "? ") || (k < 2 && code_ends(s, i, ", "))))
                mutants_add(s, MUTANT_GUARD, 1, &(struct edit){ i, right_operand(s, i), "8" });
    }
}

static void remove_initialisers(struct mutants *s)
{
    for (size_t i = 0; i < s->size; i++)
        if ((code_starts(s, i, " = {};") || code_starts(s, i, " = 0;")) && code_line_has(s, i, "acc"))
            mutants_add(s, MUTANT_INITIALISER, 1, &(struct edit){ i, i + strcspn(s->code + i, ";"), "" });
}

// wait<n>(), wgmma_wait<n>(): removed, n + 1, and behind the barrier that follows it. commit(): removed.
static void break_copies(struct mutants *s)
{
    for (size_t i = s->kernel; i < s->size; i++) {
        const size_t end = i + strcspn(s->code + i, ";"), barrier = end < s->size ? code_skip_blanks(s, end + 1) : end;
        const bool products = code_starts(s, i, "wgmma_wait<");
        const enum mutant_rule rule = products ? MUTANT_WGMMA : MUTANT_COPY;
        if (code_ends(s, i, "void "))  // the function itself
            continue;
        if (products || (code_word_at(s, i, "wait") && code_starts(s, i, "wait<"))) {
            const size_t count = i + strcspn(s->code + i, ">");
            mutants_add(s, rule, 1, &(struct edit){ i, end, "" });
            mutants_add(s, rule, 1, &(struct edit){ count, count, " + 1" });
            if (code_starts(s, barrier, "__syncthreads();"))
                mutants_add(s, rule, 2,
                            (struct edit[]){ { i, i, "__syncthreads(), " },
                                             { barrier, barrier + strlen("__syncthreads()"), "" } });
        }
        if (code_word_at(s, i, "commit") && code_starts(s, i, "commit()"))
            mutants_add(s, MUTANT_COPY, 1, &(struct edit){ i, i + strlen("commit()"), "0" });
    }
}

// stage = ..., s = ...: where the tile is that is multiplied. parity ^= ...: which phase of the stage it is. before =
// s: the stage of the tile before. early = 0: the first tile of C is over, whose copies were begun early.
static void keep_stages(struct mutants *s)
{
    static const char *const changes[] = { "stage = ", "s = ", "parity ^= ", NULL };
    for (size_t i = s->kernel; i < s->size; i++)
        for (int k = 0; changes[k]; k++)
            if (code_starts(s, i, changes[k]) && !code_is_word(s->code[i - 1]) && !code_line_has(s, i, "int"))
                mutants_add(s, MUTANT_STAGE, 1, &(struct edit){ i, i + strcspn(s->code + i, ";"), "void(0)" });
    static const char *const others[] = { "before = s,", "early = 0;", NULL };
    for (size_t i = s->kernel; i < s->size; i++)
        for (int k = 0; others[k]; k++)
            if (code_starts(s, i, others[k]) && !code_is_word(s->code[i - 1]))
                mutants_add(s, MUTANT_STAGE, 1, &(struct edit){ i, i + strlen(others[k]) - 1, "void(0)" });
}

void mutate_by_rules(struct mutants *s)
{
    remove_barriers(s);
    shift_indices(s);
    remove_conditions(s);
    remove_other_guards(s);
    remove_initialisers(s);
    break_copies(s);
    keep_stages(s);
}
