// What the checks of the exercises share. A check is a file of Criterion tests:
//
//     static const struct ex_gemm gemm = { DEV_F32, { .bm = 64, .bn = 64, .bk = 8, .threads = 64 }, owner_by_patches };
//     Test(check, 1_the_result_is_right) { ex_is_right(&gemm, 100, 72, 20, 1, 0); }
//     Test(check, 2_a_warp_reads_one_line) { const struct profile *p = ex_count(&gemm, 64, 64, 64); cr_assert(...); }
//
// They run in the order of their numbers, each in a process of its own; the name, without number and underscores, is
// the title of a line of the report. What a failing assertion says is for the learner: what was seen, what is wanted,
// and where to look. Every launch here is on the simulated GPU with its checks on, and what they find fails the test.
#pragma once

#include <criterion/criterion.h>
#include <inttypes.h>

#include "base/device.h"
#include "base/matrix.h"
#include "base/profile.h"
#include "base/text.h"
#include "tester/tester.h"

#define EX_NO_GPU "no GPU"             // why a test is skipped where there is none
#define EX_PTX getenv("EXERCISE_PTX")  // the learner's kernel.cu, compiled by check_main.c

// --- kernels named gemm with the parameters of the steps ---

struct ex_gemm {
    enum dev_type type;
    struct geometry given;                                     // by the exercise: what its counts are worked out for
    int (*owner)(const struct geometry *g, int row, int col);  // as in struct step
};

// The geometry that the learner's kernel.cu says. Fails if there is none.
struct geometry ex_geometry(void);

// Fails if that is not the geometry given, with which the rest of the test counts.
void ex_needs(const struct geometry *given);

// C = alpha * A * B + beta * C with the kernel gemm: M x K times K x N. Fails with the findings, or with the first
// wrong element and the block, warp and lane that own it. Any geometry will do. Where a GPU answers, the same there.
void ex_is_right(const struct ex_gemm *gemm, int m, int n, int k, double alpha, double beta);

// The counters of one such launch with alpha = 1 and beta = 0, valid until the next. Skips the test where the result is
// wrong or something was found: the test that calls ex_is_right says so. Fails if the geometry is not the one given.
const struct profile *ex_count(const struct ex_gemm *gemm, int m, int n, int k);

// As ex_is_right, for one tile, for edges inside a tile with an alpha and a beta, and for less than a tile.
void ex_is_right_at_edges(const struct ex_gemm *gemm);

// Two shapes that whole tiles fill. 0: two blocks side by side, three tiles along K; 1: one above the other, and five.
enum { EX_WHOLE_SHAPES = 2 };
struct ex_shape {
    int m, n, k;
};
struct ex_shape ex_whole_shape(const struct ex_gemm *gemm, int i);

// The counters of a launch with that shape, as ex_count returns them.
const struct profile *ex_count_whole(const struct ex_gemm *gemm, int i);

// Fails where a block of such a launch makes more requests to A and B for each tile than its copies do, 32 elements
// each: the product reads what it needs from shared memory. Tries both shapes.
void ex_reads_the_tiles(const struct ex_gemm *gemm);

// The reads of shared memory, as warp instructions, that such a launch makes for a multiply-add of a warp.
double ex_reads_for_a_multiply_add(const struct ex_gemm *gemm, int i);

// Fails where the PTX of gemm reads or writes local memory: a thread's values are to be in registers.
void ex_keeps_to_registers(const struct ex_gemm *gemm);

// The reads of shared memory in the PTX, as warp instructions; those that ptxas merges into wider ones count one by
// one. For kernels in which it merges no stores.
uint64_t ex_shared_reads(const struct profile *p);

// --- other kernels ---

// A rows x cols matrix of whole numbers from -4 to 4: every order of summation gives the same. To be freed.
struct matrix ex_whole_numbers(enum dev_type type, int rows, int cols, uint64_t seed);

struct ex {
    struct dev *dev;
    struct dev_module *module;
};

// The device with the learner's kernels loaded. Skips the test where kind is DEV_GPU and there is none.
struct ex ex_open(enum dev_kind kind);
void ex_close(struct ex *x);
dev_ptr ex_buffer(struct ex *x, const char *name, const void *data, size_t bytes);  // data NULL: uninitialised
void ex_read(struct ex *x, void *to, dev_ptr from, size_t bytes);

// Launches a kernel and waits. Fails the test with what the checks found, or with the device's error.
const struct profile *ex_launch(struct ex *x, const char *kernel, const struct dev_launch *launch);

// The counters of such a launch. Skips the test where something was found: the test that launched it first says so.
const struct profile *ex_relaunch(struct ex *x, const char *kernel, const struct dev_launch *launch);

// C = alpha * A * B + beta * C of floats, M x K times K x N, row-major, for kernels that take more than gemm does.
struct ex_product {
    struct ex x;
    int m, n, k;
    struct matrix A, B, C;  // C as it was before the launch
    dev_ptr a, b, c;        // the same on the device
};

// Opens the device, with whole numbers in all three matrices; where beta is 0, NaN in C, which must not be read then.
struct ex_product ex_product_open(enum dev_kind kind, int m, int n, int k, float beta);
void ex_product_close(struct ex_product *p);

// Fails if C on the device is not the result, exactly. parts, and what they are, tell launches apart in the message.
void ex_product_is_right(struct ex_product *p, float alpha, float beta, int parts, const char *what);

// The total of a metric on the lines of kernel.cu that hold text; all of them where text is NULL. A line inlined from
// elsewhere counts where it stands.
uint64_t ex_on_lines(const struct profile *p, enum profile_metric metric, const char *text);
