// Passes over a function's code, in the order in which they run.
#pragma once

#include "irptx/code.h"

// Phis that always hold the same become one.
void pass_same_phis(struct code *c);
// Phis become copies on the ways into their blocks; from here on a register may be written more than once.
void pass_copies(struct code *c);
// Removes instructions whose results are not used.
void pass_dead(struct code *c);
// Instructions without a place in the source get one.
void pass_places(struct code *c);
// Loads and stores of neighbours become one of two or four registers.
void pass_merge(struct code *c);
// Loads whose values are used behind a branch alone move there.
void pass_sink(struct code *c);
// Registers that a copy connects become one where they do not interfere; then all registers get their names.
void pass_coalesce(struct code *c);
// Ways through empty blocks become shorter.
void pass_jumps(struct code *c);
