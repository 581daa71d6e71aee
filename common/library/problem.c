// See problem.h.
#include "problem.h"

#include <inttypes.h>

enum { SIZE_MOST = 1 << 30, BATCH_MOST = 1 << 20, LEAST_TILE = 64 };
static const int64_t apart_most = (int64_t)1 << 38;    // elements: what a tensor map can hold
static const uint64_t bytes_most = (uint64_t)1 << 44;  // of an operand
static const uint64_t tiles_most = (uint64_t)1 << 30;  // of C: what a grid can have, with all parts

size_t problem_type_bytes(gemm_steps_type type)
{
    return type == GEMM_STEPS_F32 ? 4 : 2;
}

gemm_steps_problem problem_of(gemm_steps_type type, int m, int n, int k, float alpha, dev_ptr A, dev_ptr B, float beta,
                              dev_ptr C)
{
    return (gemm_steps_problem){
        .m = m, .n = n, .k = k, .type = type, .alpha = alpha, .A = A, .B = B, .beta = beta, .C = C
    };
}

uint64_t problem_bytes(const struct operand *x)
{
    return ((uint64_t)(x->matrices - 1) * (uint64_t)x->next + (uint64_t)(x->rows - 1) * (uint64_t)x->ld +
            (uint64_t)x->columns) *
           x->element;
}

// --- Numbers ---

static bool check_choices(const struct problem *p, char error[DEV_ERROR_MAX])
{
    if (p->type < GEMM_STEPS_F32 || p->type > GEMM_STEPS_BF16)
        return error_set(error, "type is %d: not one of gemm_steps_type", (int)p->type);
    if (p->type_c != p->type && p->type_c != GEMM_STEPS_F32)
        return error_set(error, "type_c is %d: C has the type of A and B, or f32", (int)p->type_c);
    if ((int)p->bias_kind < 0 || p->bias_kind > GEMM_STEPS_BIAS_COLUMN)
        return error_set(error, "bias_kind is %d: not one of gemm_steps_bias", (int)p->bias_kind);
    if ((int)p->activation < 0 || p->activation > GEMM_STEPS_GELU)
        return error_set(error, "activation is %d: not one of gemm_steps_activation", (int)p->activation);
    return true;
}

static bool check_sizes(const struct problem *p, char error[DEV_ERROR_MAX])
{
    static const char *const names[] = { "m", "n", "k", "batch" };
    const int sizes[] = { p->m, p->n, p->k, p->batch }, most[] = { SIZE_MOST, SIZE_MOST, SIZE_MOST, BATCH_MOST };
    for (int i = 0; i < 4; i++)
        if (sizes[i] < 1 || sizes[i] > most[i])
            return error_set(error, "%s is %d; 1 to %d are allowed", names[i], sizes[i], most[i]);
    return true;
}

static bool check_distances(const struct problem *p, char error[DEV_ERROR_MAX])
{
    for (int i = 0; i < PROBLEM_OPERANDS; i++) {
        const struct operand x = p->x[i];
        if (x.ld < x.columns || x.ld > apart_most)
            return error_set(error,
                             "ld%c is %" PRId64 ": a row of %c has %d elements, and at most %" PRId64 " are allowed",
                             "abc"[i], x.ld, "ABC"[i], x.columns, apart_most);
        if (x.next < 0 || x.next > apart_most)
            return error_set(error, "stride_%c is %" PRId64 "; 0 to %" PRId64 " are allowed", "abc"[i], x.next,
                             apart_most);
        const double bytes = ((double)(x.matrices - 1) * (double)x.next + (double)(x.rows - 1) * (double)x.ld) * 4;
        if (bytes > (double)bytes_most || (double)x.rows * x.columns * (double)x.element > (double)bytes_most)
            return error_set(error,
                             "%c has %d x %d elements, %" PRId64 " from row to row, and %d matrices, %" PRId64
                             " apart: 2^42 elements are allowed from the first to the last",
                             "ABC"[i], x.rows, x.columns, x.ld, x.matrices, x.next);
    }
    return true;
}

// The matrices of a batch lie one behind the other, or side by side in rows that they share.
static bool check_batch(const struct problem *p, char error[DEV_ERROR_MAX])
{
    const struct operand c = p->x[2];
    const uint64_t tiles = ((uint64_t)(p->m - 1) / LEAST_TILE + 1) * ((uint64_t)(p->n - 1) / LEAST_TILE + 1);
    if (tiles * (uint64_t)p->batch > tiles_most)
        return error_set(error, "C has too many tiles for one call: %d of %d x %d", p->batch, p->m, p->n);
    const bool behind = c.next >= (c.rows - 1) * c.ld + c.columns;
    const bool beside = c.next >= c.columns && c.ld >= (p->batch - 1) * c.next + c.columns;
    return p->batch == 1 || behind || beside ||
           error_set(error, "stride_c is %" PRId64 ": the matrices of C overlap", c.next);
}

// --- Places ---

// Two operands that lie in columns of their own of the same rows.
static bool are_beside(const struct operand *x, const struct operand *c)
{
    if (x->ld != c->ld || x->element != c->element || x->next % x->ld || c->next % c->ld)
        return false;
    const int64_t apart = ((int64_t)(c->at - x->at) / (int64_t)c->element % c->ld + c->ld) % c->ld;
    return apart >= x->columns && apart + c->columns <= c->ld;
}

// The place of an operand that is read beside C, or of C itself.
static bool check_place(const struct operand *x, const char *name, const struct operand *c, char error[DEV_ERROR_MAX])
{
    if (!x->at)
        return error_set(error, "%s is a null pointer", name);
    if (x->at % x->element)
        return error_set(error, "%s begins at 0x%" PRIx64 ", which is no multiple of %zu", name, x->at, x->element);
    if (x->at + problem_bytes(x) < x->at)
        return error_set(error, "%s begins at 0x%" PRIx64 ": its end is past all memory", name, x->at);
    const bool apart = x->at >= c->at + problem_bytes(c) || c->at >= x->at + problem_bytes(x);
    return x == c || apart || are_beside(x, c) || error_set(error, "C overlaps %s", name);
}

// What is not read may be anywhere.
static bool check_places(const struct problem *p, char error[DEV_ERROR_MAX])
{
    const struct operand *a = &p->x[0], *b = &p->x[1], *c = &p->x[2];
    const struct operand bias = { .at = p->bias,
                                  .rows = 1,
                                  .columns = p->bias_kind == GEMM_STEPS_BIAS_ROW ? p->n : p->m,
                                  .matrices = 1,
                                  .element = c->element };
    return check_place(c, "C", c, error) &&
           (p->alpha == 0 || (check_place(a, "A", c, error) && check_place(b, "B", c, error))) &&
           (!p->bias_kind || check_place(&bias, "bias", c, error));
}

// --- Completed ---

// The operands, with the distances that the caller left out; those that do not matter are 0.
static void place(const gemm_steps_problem *given, struct problem *p)
{
    const dev_ptr at[] = { given->A, given->B, given->C };
    const int64_t ld[] = { given->lda, given->ldb, given->ldc };
    const int64_t next[] = { given->stride_a, given->stride_b, given->stride_c };
    const int rows[] = { p->m, p->k, p->m }, columns[] = { p->k, p->n, p->n };
    const bool turned[] = { given->transpose_a, given->transpose_b, false };
    for (int i = 0; i < PROBLEM_OPERANDS; i++) {
        struct operand *x = &p->x[i];
        x->at = at[i], x->turned = turned[i];
        x->rows = turned[i] ? columns[i] : rows[i], x->columns = turned[i] ? rows[i] : columns[i];
        x->ld = ld[i] ? ld[i] : x->columns, x->next = p->batch > 1 ? next[i] : 0;
        x->matrices = x->next ? p->batch : 1;
        x->element = problem_type_bytes(i < 2 ? p->type : p->type_c);
    }
}

bool problem_settle(const gemm_steps_problem *given, bool later, struct problem *p, char error[DEV_ERROR_MAX])
{
    *p = (struct problem){ .m = given->m,
                           .n = given->n,
                           .k = given->k,
                           .batch = given->batch ? given->batch : 1,
                           .type = given->type,
                           .type_c = given->type_c ? given->type_c : given->type,
                           .bias_kind = given->bias_kind,
                           .activation = given->activation,
                           .alpha = given->alpha,
                           .beta = given->beta,
                           .bias = given->bias_kind ? given->bias : 0 };
    place(given, p);
    if (!check_choices(p, error) || !check_sizes(p, error) || !check_distances(p, error) || !check_batch(p, error) ||
        (!later && !check_places(p, error)))
        return false;
    for (int i = 0; i < PROBLEM_OPERANDS; i++)  // what is not read may be anywhere, too
        p->x[i].at = p->x[i].at && (i == 2 || p->alpha != 0) ? p->x[i].at : 256;
    return true;
}
