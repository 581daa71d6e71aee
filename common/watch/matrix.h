// The matrices that registers hold at an instruction of the tensor cores (mma.sync, wmma, wgmma), element by element.
#pragma once

#include "watch.h"

struct watch_element {
    double value;
    uint32_t number;     // of the register (simt_register) that holds it
    uint8_t lane, part;  // part: of the register's elements, from the lowest bits on
};

struct watch_matrix {
    char name;                 // 'A', 'B', 'C' or 'D'
    const char *type;          // of the elements: "f16"
    uint32_t rows, cols;       // of wgmma 16 rows: those of the warp
    bool read;                 // the instruction reads it; else it leaves it
    struct watch_element *at;  // row by row
};

enum { WATCH_MATRICES = 4 };

// The matrices that the step's instruction reads from registers or leaves there, in the text's order: how many. wgmma's
// result stands at the waits, where it is that of the last product that has come. 0: there is none, or, with a line in
// error, it cannot be told.
size_t watch_matrices(struct watch *w, uint64_t moment, struct watch_matrix all[WATCH_MATRICES],
                      char error[DEV_ERROR_MAX]);
void watch_matrices_free(struct watch_matrix *all, size_t n);
// The array "matrices" in the open object j: "name", "type", "rows", "cols", "read"; and row by row "value" as text,
// "lane", "part", and "register", an index into "registers".
bool watch_matrices_json(struct watch *w, uint64_t moment, struct json *j, char error[DEV_ERROR_MAX]);
