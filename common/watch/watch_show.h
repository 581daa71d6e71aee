// What the terminal prints of a watched block: a step with its operands, where warps stand, what memory holds.
#pragma once

#include <stdio.h>

#include "watch.h"

// Bytes of a value of the type that `as` names (f16, f32, f64, s32, u32, s64, u64, hex); 0: there is no such type.
uint32_t show_bytes(const char *as);

// The values of some lanes, and the end of the line: one if they are the same, else the first `most` of them.
void show_values(FILE *out, const uint64_t value[32], uint32_t lanes, const struct simt_type *type, const char *as,
                 uint32_t most);

// Each prints lines to out; false, with one line in error, if the launch could not be run again.
bool show_step(struct watch *w, uint64_t moment, FILE *out, char error[DEV_ERROR_MAX]);
bool show_register(struct watch *w, uint64_t moment, uint32_t warp, const char *name, const char *as, FILE *out,
                   char error[DEV_ERROR_MAX]);
// All registers that a lane has written and that are in use, the last first.
bool show_registers(struct watch *w, uint64_t moment, uint32_t warp, uint32_t lane, FILE *out,
                    char error[DEV_ERROR_MAX]);
bool show_shared(struct watch *w, uint64_t moment, uint32_t at, const char *as, uint32_t count, FILE *out,
                 char error[DEV_ERROR_MAX]);
bool show_warps(struct watch *w, uint64_t moment, FILE *out, char error[DEV_ERROR_MAX]);
bool show_barriers(struct watch *w, uint64_t moment, FILE *out, char error[DEV_ERROR_MAX]);
// Matrices in registers, from a column on: all if name is 0. by_lane: which lane and register has an element.
bool show_matrices(struct watch *w, uint64_t moment, char name, uint32_t column, bool by_lane, FILE *out,
                   char error[DEV_ERROR_MAX]);
bool show_copies(struct watch *w, uint64_t moment, FILE *out, char error[DEV_ERROR_MAX]);

// These need no run: lines of the source around a step's, and who came to an mbarrier, phase by phase.
void show_source(const struct watch *w, uint64_t moment, FILE *out);
void show_arrivals(const struct watch *w, uint64_t moment, uint32_t at, FILE *out);
// "kernel.cu:45", or the instruction's number where no line is known.
void show_place(const struct watch *w, uint32_t instruction, FILE *out);
