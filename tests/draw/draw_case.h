// A step's kernel, ready to be drawn: loaded into a simulated GPU, with matrices of its own. STEPS_PTX is the folder of
// the steps' PTX, which the build defines.
#pragma once

#include <stddef.h>
#include <stdlib.h>

#include "compiler.h"
#include "simt/draw/draw_run.h"
#include "tester/geometry.h"

struct draw_step {
    const char *name;
    size_t element;                                            // bytes of an element of A, B and C
    int (*owner)(const struct geometry *g, int row, int col);  // the thread of a block that computes this element of C
};

enum { DRAW_STEPS_ALL = 14 };
extern const struct draw_step draw_steps[DRAW_STEPS_ALL];  // 01 to 13, and 15, which is for Hopper
#define DRAW_STEPS ((size_t)DRAW_STEPS_ALL - (HAS_HOPPER ? 0 : 1))

// A step with two blocks along x, and as many tiles along K as it was opened with.
struct draw_bench {
    struct simt *s;
    struct geometry g;
    struct simt_picture place;
    int m, n, k;
    float alpha, beta;
    struct simt_product product;
    struct dev_tensor_map maps[2];
    struct dev_arg args[8];
    struct dev_launch how;
    struct draw_launch launch;  // of block 1
    char error[DEV_ERROR_MAX];
};

void draw_bench_open(struct draw_bench *b, const struct draw_step *step, int tiles);
void draw_bench_close(struct draw_bench *b);
// As simt_draw; what it draws is XML.
char *draw_bench_draw(struct draw_bench *b, enum simt_view view);
