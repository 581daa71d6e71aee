// How the lanes of a warp share out a matrix operand of the tensor cores: element (row, column) -> lane, register and
// place in the register. Source: PTX ISA 9.7.15 (mma.sync); wmma's fragments, which PTX leaves open, were read off an
// H200 (tests/truth/h200_wmma.tsv).
//
// A register of all lanes holds a block of 8 x 4 pack elements, pack of them a lane: lane / 4 counts along one
// dimension, lane % 4 and the place in the register along the other.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define FRAGMENT_REGS 8

struct fragment {
    uint8_t rows, cols;  // of the operand
    uint8_t bytes;       // of an element
    uint8_t pack;        // elements of a register: 1, 2 or 4
    uint8_t n;           // registers, repeated ones included
    uint8_t distinct;    // register r >= distinct holds what register r % distinct holds
    bool paired;         // registers 2 i and 2 i + 1 hold neighbours: accumulators of 32 and 64 bits
    bool swapped;        // lane / 4 counts along columns: B, and what m8n32k16 computes transposed
    struct {
        uint8_t row, col;
    } base[FRAGMENT_REGS];  // the block's first element
};

enum fragment_role { FRAGMENT_A, FRAGMENT_B, FRAGMENT_C };  // C stands for D too

// The fragment of operand role of an m x n x k product whose elements have that many bytes; regs: registers that the
// instruction names, or 0 for as many as are needed. False if there is no such operand.
bool fragment_of(enum fragment_role role, int m, int n, int k, int bytes, int regs, struct fragment *f);

// The element that lane holds in place i of register r.
static inline void fragment_at(const struct fragment *f, unsigned r, unsigned lane, unsigned i, unsigned *row,
                               unsigned *col)
{
    unsigned b = r % f->distinct, along = lane % 4 * f->pack + i, across = lane / 4;
    if (f->paired)
        along = lane % 4 * 2 + r % 2;
    *row = f->base[b].row + (f->swapped ? along : across);
    *col = f->base[b].col + (f->swapped ? across : along);
}
