// The executor is compiled once for each instruction set of the host; ISA_NAME (base, v3) comes from the build, and
// ISA(f) is f's name in this copy.
#pragma once

#include "simt/code/warp.h"

#ifndef ISA_NAME
#define ISA_NAME base
#endif
#define ISA_JOIN(f, isa) f##_##isa
#define ISA_EXPAND(f, isa) ISA_JOIN(f, isa)
#define ISA(f) ISA_EXPAND(f, ISA_NAME)

#ifndef ISA_TEXT
#define ISA_TEXT "portable code"
#endif

extern const alu_fn ISA(alu_table)[ALU_OPS];

// For the active lanes. False on a fault, which is then in the worker.
#define WARP(id)
#define WARP_ISA(id) bool ISA(warp_##id)(struct warp * w, const struct uop *u, uint32_t active);
#include "simt/code/warp_op.def"

bool ISA(exec_wgmma)(struct warp *first, uint32_t n);  // exec_wgmma.c; see struct exec

// exec_mem.c: a load or store by the active lanes. False on a fault, which is then in the worker.
bool ISA(exec_load)(struct warp *w, const struct uop *u, uint32_t active);
bool ISA(exec_store)(struct warp *w, const struct uop *u, uint32_t active);
