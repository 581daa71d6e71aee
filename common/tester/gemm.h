// One product by a step's kernel: gemm(M, N, K, alpha, A, B, beta, C), with the grid that its geometry asks for. If the
// geometry has a BOX, A and B are tensor maps; if it has a CBOX, C's map follows C. The rows of a tensor map begin at
// multiples of 16 bytes: a matrix of other rows is copied first, by the kernel `pack` of the same module.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/device.h"
#include "geometry.h"

enum { GEMM_ARGS = 9, GEMM_PACK_ARGS = 5 };

// A or B of a kernel that takes tensor maps.
struct gemm_operand {
    int rows, columns, pitch;  // elements; pitch: from one row to the next, once packed
    dev_ptr from, packed;      // packed: the copy, or 0 if the rows of `from` need none
    struct dev_tensor_map map;
    struct dev_arg args[GEMM_PACK_ARGS];
    struct dev_launch launch;  // of pack
};

struct gemm {
    int m, n, k;
    double alpha, beta;
    dev_ptr A, B, C;
    int sms;       // multiprocessors, of which each gets BLOCKS blocks; 0: gemm_open asks the device
    dev_ptr room;  // memory for the packed copies, gemm_room bytes; 0: gemm_open allocates them
    // What follows is filled in.
    float alpha32, beta32;  // what a kernel of floats or halves gets
    struct gemm_operand a, b;
    struct dev_tensor_map c_map;  // zeros where C's rows are no multiples of 16 bytes: the kernel must not use it then
    struct dev_arg args[GEMM_ARGS];
    struct dev_launch launch;
    uint64_t budget;  // warp instructions after which a block counts as endless: dev_set_budget
    struct dev_kernel *kernel, *pack;
};

// Fills in args, launch and budget from what stands before them; tensor maps stay empty. They point into c, which must
// stay where it is. False, with one line in error, if the grid would have too many rows of blocks.
bool gemm_prepare(struct gemm *c, enum dev_type type, const struct geometry *g, char error[DEV_ERROR_MAX]);

// The tensors of a prepared product whose geometry has boxes, and where their maps belong. *n is 0 if it has none.
enum { GEMM_TENSORS = 3 };
struct gemm_tensor {
    struct dev_tensor tensor;
    struct dev_tensor_map *map;
};
bool gemm_tensors(struct gemm *c, enum dev_type type, const struct geometry *g, struct gemm_tensor out[GEMM_TENSORS],
                  size_t *n, char error[DEV_ERROR_MAX]);

// Fills in the launches that pack A and B of a prepared product whose geometry has boxes, as far as they need it; the
// copies are to lie at a and b.
void gemm_plan_packs(struct gemm *c, enum dev_type type, dev_ptr a, dev_ptr b);

// As gemm_prepare, and what the kernel needs on the device: it is found in the module by its name, packed copies are
// allocated, tensor maps are made. gemm_close frees the copies; it must be called even if gemm_open fails.
bool gemm_open(struct gemm *c, struct dev *d, struct dev_module *m, const char *name, enum dev_type type,
               const struct geometry *g, char error[DEV_ERROR_MAX]);
void gemm_close(struct gemm *c, struct dev *d);

// Queues the product, the copies first; only them, if the checks find something there: dev_findings has it then. False,
// with the reason in dev_error, as dev_launch.
bool gemm_queue(const struct gemm *c, struct dev *d);
bool gemm_queue_copies(const struct gemm *c, struct dev *d,
                       bool *go_on);  // those alone; *go_on: nothing was found there
