// The instruction cache of an SM. A warp that comes to a line of code that is not there waits for it. Each sub-core has
// a small cache of its own before it, which costs nothing here: a loop that fits into this one runs at full speed.
#include "sm_parts.h"

// Bodies of 32, 36 and 40 KB show the sets: of 260, 292 and 324 lines some 30, 180 and all come again in each round
// (code_2048_fma_1_warps, _2304_, _2560_).
static struct sm_line *find_line(struct sm_code *c, uint32_t line)
{
    struct sm_line *set = &c->lines[line % CODE_SETS * CODE_WAYS], *oldest = set;
    for (unsigned i = 0; i < CODE_WAYS; i++) {
        if (set[i].name == line + 1)
            return &set[i];
        if (set[i].used < oldest->used)
            oldest = &set[i];
    }
    return oldest;
}

double sm_code_there(struct sm *sm, uint32_t pc, double at)
{
    struct sm_code *c = &sm->code;
    const uint32_t name = pc / LINE_INSTRUCTIONS + 1;
    struct sm_line *l = find_line(c, name - 1);
    if (l->name != name)
        *l = (struct sm_line){ name, 0, at + sm->k->code_latency };
    l->used = ++c->now;
    return l->there;
}
