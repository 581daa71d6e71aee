// What there is to see while a launch is watched: watch.c fills it, look.c answers from it.
#pragma once

#include "simt/code/watching.h"
#include "state.h"

struct operand {
    struct simt_operand said;
    int32_t reg;
    uint64_t value[LANES];
};

struct simt_look {
    struct watching watching;  // the first: the executor knows no more
    const struct simt_watch *asked;
    struct simt *simt;
    const struct simt_kernel *kernel;
    const struct block *block;
    const struct warp *warp;
    uint32_t inst, lanes;
    uint64_t *steps;  // by warp: instructions that it executed
    struct operand *operands;
    uint32_t n_operands, room;
    bool failed;  // out of memory
};

static inline const struct code *look_code(const struct simt_look *l)
{
    return l->block->worker->grid->code;
}

static inline const struct ptx_inst *look_inst(const struct simt_look *l)
{
    return &l->kernel->func->insts[l->inst];
}

// A register of the PTX, of all lanes of a warp, as it is now.
void look_read(const struct simt_look *l, const struct warp *w, int32_t reg, uint64_t value[LANES]);
