// The instruction cache of an SM. A warp that comes to a line of code asks for the next one, too, and waits for one
// that is not there: a single warp takes 18 cycles for each line of a long loop, of which it issues for 8, and two
// warps of a sub-core, which issue for 16, hardly wait (code_3072_fma_1_warps, _8_warps). Each sub-core has a small
// cache of its own before it, which costs nothing here: a loop that fits into this one runs at full speed.
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

static struct sm_line *ask_for(struct sm *sm, uint32_t line, double at)
{
    struct sm_line *l = find_line(&sm->code, line);
    if (l->name != line + 1)
        *l = (struct sm_line){ line + 1, 0, at + sm->k->code_latency };
    l->used = ++sm->code.now;
    return l;
}

double sm_code_there(struct sm *sm, uint32_t pc, double at)
{
    const double there = ask_for(sm, pc / LINE_INSTRUCTIONS, at)->there;
    if (pc / LINE_INSTRUCTIONS + 1 < (sm->job->launch->cubin->n + LINE_INSTRUCTIONS - 1) / LINE_INSTRUCTIONS)
        ask_for(sm, pc / LINE_INSTRUCTIONS + 1, there > at ? there : at);
    return there;
}
