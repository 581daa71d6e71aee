// The control flow of a kernel: basic blocks, dominators, and which version of shared memory each block finds.
#include <string.h>

#include "merge.h"

#define PASSES 64             // over the blocks, until nothing changes
#define STEPS_MAX (1u << 24)  // up the tree of dominators, in all

// Reverse postorder, depth first.
static void find_order(struct decoder *x, struct blocks *b)
{
    uint32_t *stack = decode_scratch(x, (b->n + 1) * sizeof *stack), depth = 0, at = b->n;
    uint8_t *edge = decode_scratch(x, b->n + 1);  // edges taken so far, and 1
    uint32_t *order = decode_scratch(x, (b->n + 1) * sizeof *order);
    stack[depth++] = 0;
    edge[0] = 1;
    while (depth) {
        uint32_t block = stack[depth - 1];
        if (edge[block] == 3) {
            order[--at] = block;
            depth--;
            continue;
        }
        uint32_t to = b->next[block][edge[block]++ - 1];
        if (to == NO_BLOCK || edge[to])
            continue;
        edge[to] = 1;
        stack[depth++] = to;
    }
    b->order = order + at;
    b->n_order = b->n - at;
}

struct edges {  // into each block, from the ones that can be reached
    uint32_t *from, *start;
};

static struct edges find_edges(struct decoder *x, const struct blocks *b)
{
    struct edges e = { decode_scratch(x, (2 * b->n + 1) * sizeof *e.from),
                       decode_scratch(x, (b->n + 2) * sizeof *e.start) };
    uint32_t *fill = decode_scratch(x, (b->n + 1) * sizeof *fill);
    for (uint32_t i = 0; i < 2 * b->n_order; i++) {
        uint32_t to = b->next[b->order[i / 2]][i % 2];
        if (to != NO_BLOCK)
            e.start[to + 1]++;
    }
    for (uint32_t i = 0; i < b->n; i++)
        e.start[i + 1] += e.start[i];
    for (uint32_t i = 0; i < 2 * b->n_order; i++) {
        uint32_t block = b->order[i / 2], to = b->next[block][i % 2];
        if (to != NO_BLOCK)
            e.from[e.start[to] + fill[to]++] = block;
    }
    return e;
}

// Sets value[block] to find(context, block) for every block but the first, over and over, until nothing changes. False
// if that takes too long.
static bool settle(const struct blocks *b, uint32_t *value, uint32_t (*find)(void *context, uint32_t block),
                   void *context)
{
    bool changed = true;
    for (int pass = 0; changed; pass++) {
        changed = false;
        if (pass == PASSES)
            return false;
        for (uint32_t i = 1; i < b->n_order; i++) {
            const uint32_t block = b->order[i], found = find(context, block);
            changed |= value[block] != found;
            value[block] = found;
        }
    }
    return true;
}

struct dominators {
    const struct edges *e;
    uint32_t *of, *place;  // by block: its dominator, and its place in the order
    uint32_t steps;        // up the tree so far
};

static uint32_t find_dominator(void *context, uint32_t block)
{
    struct dominators *d = context;
    uint32_t found = NO_BLOCK;
    for (uint32_t k = d->e->start[block]; k < d->e->start[block + 1] && d->steps <= STEPS_MAX; k++) {
        uint32_t other = d->e->from[k];
        if (d->of[other] == NO_BLOCK)
            continue;
        for (found = found == NO_BLOCK ? other : found; found != other; d->steps++) {
            if (d->place[found] > d->place[other])
                found = d->of[found];
            else
                other = d->of[other];
        }
    }
    return d->steps > STEPS_MAX ? d->of[block] : found;
}

// Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm".
static bool find_dominators(struct decoder *x, struct blocks *b, const struct edges *e)
{
    uint32_t *place = decode_scratch(x, (b->n + 1) * sizeof *place);
    b->dominator = decode_scratch(x, (b->n + 1) * sizeof *b->dominator);
    memset(b->dominator, 0xff, b->n * sizeof *b->dominator);
    for (uint32_t i = 0; i < b->n_order; i++)
        place[b->order[i]] = i;
    b->dominator[0] = 0;
    struct dominators d = { e, b->dominator, place, 0 };
    return settle(b, b->dominator, find_dominator, &d) && d.steps <= STEPS_MAX;
}

static void find_intervals(struct decoder *x, struct blocks *b)
{
    uint32_t *size = decode_scratch(x, (b->n + 1) * sizeof *size);
    uint32_t *free_at = decode_scratch(x, (b->n + 1) * sizeof *free_at);
    b->low = decode_scratch(x, (b->n + 1) * sizeof *b->low);
    b->high = decode_scratch(x, (b->n + 1) * sizeof *b->high);
    for (uint32_t i = b->n_order; i-- > 0;) {
        uint32_t block = b->order[i];
        size[block]++;
        if (block)
            size[b->dominator[block]] += size[block];
    }
    for (uint32_t i = 0; i < b->n_order; i++) {
        uint32_t block = b->order[i], above = b->dominator[block];
        if (block) {
            b->low[block] = free_at[above];
            free_at[above] += size[block];
        }
        b->high[block] = b->low[block] + size[block];
        free_at[block] = b->low[block] + 1;
    }
}

// Does block p dominate block q?
static bool within(const struct blocks *b, uint32_t p, uint32_t q)
{
    return b->low[p] <= b->low[q] && b->low[q] < b->high[p];
}

// By block: the header of the innermost loop around it, headers those of the next one; NO_BLOCK outside of all loops.
static uint32_t *find_loops(struct decoder *x, const struct blocks *b, const struct edges *e)
{
    uint32_t *around = decode_scratch(x, (b->n + 1) * sizeof *around);
    uint32_t *most = decode_scratch(x, (b->n + 1) * sizeof *most);  // towards the outermost loop known
    uint32_t *list = decode_scratch(x, (2 * b->n + 1) * sizeof *list);
    memset(around, 0xff, b->n * sizeof *around);
    for (uint32_t i = 0; i < b->n; i++)
        most[i] = i;
    for (uint32_t i = b->n_order; i-- > 0;) {
        uint32_t header = b->order[i], n = 0;
        for (uint32_t k = e->start[header]; k < e->start[header + 1]; k++)
            if (within(b, header, e->from[k]))
                list[n++] = e->from[k];
        while (n) {
            uint32_t block = list[--n];
            while (most[block] != block)
                block = most[block] = most[most[block]];
            if (block == header)
                continue;
            around[block] = most[block] = header;
            for (uint32_t k = e->start[block]; k < e->start[block + 1]; k++)
                if (within(b, header, e->from[k]) && n < 2 * b->n)
                    list[n++] = e->from[k];
        }
    }
    return around;
}

// Does the edge lead out of a loop?
static bool leaves_loop(const struct blocks *b, const uint32_t *around, const struct edges *e, uint32_t from,
                        uint32_t to)
{
    bool header = false;
    for (uint32_t k = e->start[from]; k < e->start[from + 1]; k++)
        header |= within(b, from, e->from[k]);
    const uint32_t loop = header ? from : around[from];
    uint32_t at = to;
    for (int depth = 0; at != loop && at != NO_BLOCK && depth < PASSES; depth++)
        at = around[at];
    return loop != NO_BLOCK && at != loop;
}

#define NO_VERSION UINT32_MAX  // not known yet

struct versions {
    const struct edges *e;
    const uint32_t *leaves;  // by block: the version after it; 0: the one before it
    const uint32_t *before;  // the version before it
    uint32_t own;            // own + block is the version that begins at a block
    bool *fixed;             // the block has a version of its own
};

// The version before a block: that of all blocks that lead there, or its own.
static uint32_t find_version(void *context, uint32_t block)
{
    const struct versions *v = context;
    uint32_t found = NO_VERSION;
    for (uint32_t k = v->e->start[block]; !v->fixed[block] && k < v->e->start[block + 1]; k++) {
        const uint32_t from = v->e->from[k], left = v->leaves[from] ? v->leaves[from] : v->before[from];
        v->fixed[block] = found != NO_VERSION && left != NO_VERSION && left != found;
        found = left != NO_VERSION ? left : found;
    }
    return v->fixed[block] ? v->own + block : found;
}

// A block finds the version that all ways leave, or one of its own where they differ, and behind a loop: ptxas does not
// look across one.
static bool find_versions(struct decoder *x, struct blocks *b, const struct edges *e, const bool *clobbers)
{
    const uint32_t own = x->code->n_uops + 1;
    uint32_t *leaves = decode_scratch(x, (b->n + 1) * sizeof *leaves);
    const uint32_t *around = find_loops(x, b, e);
    bool *fixed = decode_scratch(x, b->n + 1);  // it has a version of its own
    b->version = decode_scratch(x, (b->n + 1) * sizeof *b->version);
    for (uint32_t i = 0; i < b->n; i++) {
        b->version[i] = NO_VERSION;
        for (uint32_t u = b->starts[i]; u < b->starts[i + 1]; u++)
            leaves[i] = clobbers[u] ? u + 1 : leaves[i];
    }
    b->version[0] = 0;
    fixed[0] = true;
    for (uint32_t i = 0; i < 2 * b->n_order; i++) {
        uint32_t from = b->order[i / 2], to = b->next[from][i % 2];
        if (to != NO_BLOCK)
            fixed[to] |= leaves_loop(b, around, e, from, to);
    }
    struct versions v = { e, leaves, b->version, own, fixed };
    return settle(b, b->version, find_version, &v);
}

bool find_flow(struct decoder *x, struct blocks *b, const bool *clobbers)
{
    find_blocks(x, b);
    find_order(x, b);
    struct edges e = find_edges(x, b);
    if (!find_dominators(x, b, &e))
        return false;
    find_intervals(x, b);
    return find_versions(x, b, &e, clobbers);
}

bool dominates(const struct blocks *b, uint32_t u, uint32_t v)
{
    uint32_t p = b->of[u], q = b->of[v];
    return p == q ? u <= v : within(b, p, q);
}
