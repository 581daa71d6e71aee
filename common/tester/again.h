// What one shape does not show: a step that was right runs once more, at small shapes that ask for the rest.
//
// A product of 256 x 256 x 256 may be one block wide and four tiles deep, has no edges, and no alpha and beta. By the
// kernel's geometry alone: more than one block each way, edges whose rows can be read 16 bytes at a time and edges
// whose rows cannot, more tiles along K than there are stages, more than one tile a block if blocks walk over tiles,
// parts of K for blocks that share a tile, rows and columns that 16 bits cannot count; with alpha and beta. Copies
// arrive as early as they may, where the first run has them as late: either shows waits that the other does not miss.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "geometry.h"
#include "result.h"

struct again_shape {
    struct geometry geometry;  // the kernel, and how many blocks share a tile
    int m, n, k;
    int sms;                   // multiprocessors that blocks are launched for; 0: those of the device
    bool checks;               // under the checks of the simulated GPU, since it costs little
    int first_row, first_col;  // where the last tile begins, which alone is computed; both 0: all are
};

#define AGAIN_ALPHA 0.5
#define AGAIN_BETA 2
#define AGAIN_SCALARS ", alpha 0.5, beta 2"

enum { AGAIN_SHAPES = 4 + GEOMETRIES_MAX };

// The shapes for the kernels of a file; returns how many.
size_t again_shapes(const struct geometries *all, enum dev_type type, struct again_shape out[AGAIN_SHAPES]);

// Runs the shapes on d, a simulated GPU, with the step's module loaded there, until one is wrong or the checks find
// something. seed, sanitize (checks at every shape) and jobs are those of o. What the run before left on d, its
// counters and findings, is lost. *result: TESTER_RIGHT, and `what` the shapes that were run; or TESTER_WRONG, and what
// is wrong at which shape. What the checks found is on d. False, with one line in error, if a shape cannot be run.
bool again_run(struct tester_result *result, struct dev *d, struct dev_module *module, const struct step *step,
               const struct tester_options *o, char error[DEV_ERROR_MAX]);
