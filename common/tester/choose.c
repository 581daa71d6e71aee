// See choose.h. The chapter of step 20 derives the rule.
#include "choose.h"

// Cycles of an H200; products along K are 64 deep. Read off 41 shapes by each kernel: see the chapter of step 20.
static const double PRODUCTS = 32;  // elements of C that the tensor cores of an SM multiply in a cycle, 64 deep
static const double STEP = 100;     // cycles between one step along K and the next
static const double LEAST = 362;    // of a step along K at least: its tiles come, a barrier is waited for
static const double LINE = 1.4;     // a row of a box, 128 bytes, comes from L2: at least
static const double LINES = 3;      // that many times longer, if it lies in two lines of L2
static const double STORE = 4;      // elements of C that are stored in a cycle
static const double NEXT = 1000;    // from a tile to the next
static const double SPLIT = 6000;   // a cluster starts, waits twice, and adds up

static double ceil_div(double a, double b)
{
    const double q = a / b, whole = (double)(long long)q;
    return whole < q ? whole + 1 : whole;
}

static double most(double a, double b)
{
    return a > b ? a : b;
}

// Tiles that are computed at the same time. Blocks of a large cluster lie in one part of the GPU (a GPC), where some
// are left over: of clusters of four and more, seven eighths find room.
static double at_once(const struct geometry *g, int sms)
{
    const int parts = g->parts > 1 ? g->parts : 1, room = parts >= 4 ? sms - sms / 8 : sms;
    const int clusters = room / parts;
    return clusters > 0 ? clusters : 1;
}

// Rows begin at multiples of 128 bytes if they have whole 64 halves, or if they are copied first: those that are no
// multiples of 8.
static double row_cycles(int columns)
{
    return columns % 8 == 0 && columns % 64 ? LINE * LINES : LINE;
}

double choose_cycles(const struct geometry *g, int m, int n, int k, int sms)
{
    const double area = (double)g->bm * g->bn, loads = g->bm * row_cycles(k) + g->bn * row_cycles(n);
    const double step = most(loads, most(LEAST, area / PRODUCTS + STEP));
    const double tiles = ceil_div(m, g->bm) * ceil_div(n, g->bn), rounds = ceil_div(tiles, at_once(g, sms));
    const double deep = ceil_div(ceil_div(k, g->bk), g->parts > 1 ? g->parts : 1);
    return rounds * (deep * step + NEXT + (g->parts > 1 ? SPLIT : 0)) + area / STORE;
}

struct geometry choose_geometry(const struct geometries *g, int m, int n, int k, int sms)
{
    struct geometry best = g->all[0];
    double least = g->n > 1 ? choose_cycles(&best, m, n, k, sms) : 0;
    for (int i = 1; i < g->n; i++)
        for (int parts = g->all[i].split ? 2 : 1; parts <= (g->all[i].split ? CHOOSE_PARTS : 1); parts *= 2) {
            struct geometry one = g->all[i];
            if (parts > 1 && parts > ceil_div(k, one.bk))
                break;  // each block needs a part of K
            one.parts = parts;
            const double cycles = choose_cycles(&one, m, n, k, sms);
            if (cycles >= least)
                continue;
            least = cycles;
            best = one;
        }
    return best;
}
