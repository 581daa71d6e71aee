// The check of exercise 07.
#include <string.h>

#include "base/file.h"
#include "../exercise.h"

enum { BM = 64, BN = 64, BK = 8, TM = 4, TN = 8, PAD = 4, THREADS = BM / TM * (BN / TN) };
enum { M = 128, N = 64, K = 40, BLOCKS = (M / BM) * (N / BN), TILES = K / BK };

// Pieces of 4 columns, half the tile apart.
static int owner(const struct geometry *g, int row, int col)
{
    const int dn = g->bn / 2;
    return dn >= 4 && g->tm ? row / g->tm * (dn / 4) + col % dn / 4 : -1;
}

static const struct ex_gemm gemm = { DEV_F32,
                                     { .bm = BM, .bn = BN, .bk = BK, .threads = THREADS, .tm = TM, .tn = TN },
                                     owner };

Test(check, 1_the_result_is_right)
{
    ex_is_right(&gemm, 64, 64, 8, 1, 0);
    ex_is_right(&gemm, 64, 128, 16, 1, 0);
    ex_is_right(&gemm, 128, 64, 40, -0.5, 2);
}

Test(check, 2_a_block_meets_at_one_barrier_a_tile)
{
    const struct profile *p = ex_count(&gemm, M, N, K);
    const uint64_t barriers = p->total[METRIC_BAR] / (BLOCKS * THREADS / 32);
    cr_assert_leq(barriers, TILES + 1,
                  "right result, but a block meets at %" PRIu64
                  " barriers for %d tiles, where %d suffice: one before the "
                  "first tile is read, and one a tile. A barrier says two things at once, that the next tiles are "
                  "complete and that everyone has read these; look for the one whose two facts another says already",
                  barriers, TILES, TILES + 1);
}

Test(check, 3_there_are_two_stages_of_each_tile)
{
    char have[TEXT_GROUPED], want[TEXT_GROUPED];
    const unsigned stage = BK * (BM + PAD + BN) * sizeof(float);
    const struct profile *p = ex_count(&gemm, M, N, K);
    cr_assert_eq(
        p->shared, 2 * stage,
        "right result, but the tiles take %s bytes of shared memory, and two stages of them %s; look at the first "
        "index of As and Bs",
        text_grouped(p->shared, have), text_grouped(2 * stage, want));
}

// --- The order in which the machine is asked: the one thing here that no counter shows ---

static const char *line_end(const char *line)
{
    return line + strcspn(line, "\n");
}

static bool line_has(const char *line, const char *text)
{
    const char *at = strstr(line, text);
    return at && at < line_end(line);
}

// Where the label that this line branches to stands, if it stands above: the line that begins with it.
static const char *loop_top(const char *begin, const char *line)
{
    char label[64];
    const char *bra = strstr(line, "bra");
    if (!bra || bra > line_end(line))
        return NULL;
    const char *name = bra + strcspn(bra, " \t");  // nvcc: "bra.uni \t$L__BB0_2;", clang: "bra.uni \tLBB0_2;"
    name += strspn(name, " \t");
    snprintf(label, sizeof label, "\n%.*s:", (int)strcspn(name, ";"), name);
    const char *top = strstr(begin, label);
    return top && top < line ? top + 1 : NULL;
}

// Registers that hold what was loaded: those of the loads, and what is moved from them.
struct loaded {
    int n;
    char names[64][16];
};

// The register that begins at p ("%f12"), in name; its length.
static int register_at(const char *p, char name[16])
{
    const int n = 1 + (int)strspn(p + 1, "abcdefghijklmnopqrstuvwxyz0123456789");
    snprintf(name, 16, "%.*s", n, p);
    return n;
}

static bool holds(const struct loaded *l, const char *name)
{
    for (int i = 0; i < l->n; i++)
        if (!strcmp(l->names[i], name))
            return true;
    return false;
}

// Adds the registers that the instruction on this line writes: those before the first comma outside of braces.
static void add_written(struct loaded *l, const char *line)
{
    const char *open = memchr(line, '{', (size_t)(line_end(line) - line));
    const char *p = open ? open : strpbrk(line, "%\n");
    if (*line == '@' && !open)
        p = strchr(p + 1, '%');
    const char *end = p ? strchr(p, open ? '}' : ',') : NULL;
    for (; p && end && (p = memchr(p, '%', (size_t)(end - p))) && l->n < 64; p++)
        register_at(p, l->names[l->n++]);
}

// Whether the line reads one of them: as any operand but the first.
static bool reads(const struct loaded *l, const char *line)
{
    char name[16];
    const char *p = line_has(line, "st.") ? line : memchr(line, ',', (size_t)(line_end(line) - line));
    for (; p && (p = memchr(p, '%', (size_t)(line_end(line) - p))); p += register_at(p, name)) {
        register_at(p, name);
        if (holds(l, name))
            return true;
    }
    return false;
}

// The multiply-adds of a thread between the loads of its part of a tile and the first use of what they bring, in the
// PTX of gemm, going round its loop twice. That is the steady state: what stands before the loop is overwritten. -1
// where nothing is used.
static int between_loads_and_use(const char *ptx)
{
    static struct loaded l;
    const char *begin = strstr(ptx, ".entry gemm"), *again = NULL, *stored = NULL;
    int since = 0, found = -1;
    l.n = 0;
    bool loading = false;
    for (const char *line = begin; line && *line != '}' && *line; line = *line_end(line) ? line_end(line) + 1 : "") {
        line += strspn(line, " \t");
        if (line_has(line, "st.shared"))
            stored = line;
        if (line_has(line, "ld.global")) {
            if (!loading) {
                l.n = 0;
                since = 0;
            }
            loading = true;
            add_written(&l, line);
        } else if (reads(&l, line)) {
            if (line_has(line, "mov.")) {
                add_written(&l, line);
            } else {
                l.n = 0;
                found = since;
                loading = false;
            }
        } else if (line_has(line, "fma.")) {
            since++;
            loading = false;
        }
        const char *top = loop_top(begin, line);
        if (top && line == again && stored && stored > top)
            break;  // what comes after the loop over K is the way out of C
        if (top && (!again || line > again)) {
            again = line;
            line = top;
        }
    }
    return found;
}

Test(check, 4_the_next_tiles_are_on_their_way_during_the_arithmetic)
{
    ex_count(&gemm, M, N, K);
    char *ptx = file_read(EX_PTX);
    cr_assert(ptx, "%s cannot be read", EX_PTX);
    const int between = between_loads_and_use(ptx);
    const bool by_clang = strstr(ptx, "Generated by LLVM");  // it moves the last of BK parts down, past the stores
    free(ptx);
    cr_assert_geq(
        between, (by_clang ? BK - 1 : BK) * TM * TN,
        "right result, but a thread has %d multiply-adds between the loads of a tile and the first use of what they "
        "bring, where it could have %d x %d x %d = %d: a store waits for its value, and so does whatever else uses "
        "it, so what is to cover the wait stands between fetch() and put()%s",
        between, BK, TM, TN, BK * TM * TN,
        between
            ? ""
            : ". If it does stand there: do both have the same condition? If only put() is behind an if, nothing else "
              "needs what fetch() loads, and the compiler moves its loads down into that if");
}
