// What the kernels of steps 11 to 14 share: fragments in registers, and copies from global to shared memory that need
// none. Each function is one PTX instruction, or two. Source: PTX ISA 9.0, 9.7.14.5 (mma, ldmatrix), 9.7.9.25.3
// (cp.async).
#pragma once
#include "edges.cuh"

// --- Fragments ---

// Of an 8 x 8 matrix of halves each lane holds a register: lane 4 * r + c / 2 has columns c, c + 1 of row r.
// A 16 x 16 tile is four matrices: x[0] top left, x[1] bottom left, x[2] top right, x[3] bottom right. Lane 8 * i + r
// gives the address of row r of matrix i, so lane l that of row l % 16, column l / 16 * 8 of the tile.
__device__ inline void ldmatrix(unsigned (&x)[4], const half *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(unsigned(__cvta_generic_to_shared(row))));
}

// The same with each matrix transposed, as mma wants B: lane 4 * c + r / 2 has rows r, r + 1 of column c.
__device__ inline void ldmatrix_trans(unsigned (&x)[4], const half *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(unsigned(__cvta_generic_to_shared(row))));
}

// d[16][8] += a[16][16] * b[16][8], for the left half of b and the right one. Lane 4 * r + c / 2 has columns c, c + 1
// of the left half of d: row r in d[0], d[1] and row r + 8 in d[2], d[3]. The right half is in d[4] to d[7].
__device__ inline void mma(float (&d)[8], const unsigned (&a)[4], const unsigned (&b)[4])
{
    for (int h = 0; h < 2; h++)
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(d[h * 4]), "+f"(d[h * 4 + 1]), "+f"(d[h * 4 + 2]), "+f"(d[h * 4 + 3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[h * 2]), "r"(b[h * 2 + 1]));
}

// --- cp.async: copies that a thread begins, and waits for later ---

// Copies the first n of 8 neighbours from global to shared memory, and 0 for the others. A wide copy only begins here:
// it is complete after a wait for its group. The narrow one is a load and a store: cp.async copies 4 bytes at least.
template <bool WIDE> __device__ inline void copy8(half *to, const half *from, int n)
{
    if constexpr (WIDE)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"  // reads %2 bytes, and fills up with 0
                     :
                     : "r"(unsigned(__cvta_generic_to_shared(to))), "l"(from), "r"(n > 0 ? 16 : 0)
                     : "memory");
    else
        *reinterpret_cast<half8 *>(to) = load8<false>(from, n);
}

// The copies that this thread began since the last call become a group. It may be empty.
__device__ inline void commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until all of this thread's groups are complete, but for the latest n.
template <int n> __device__ inline void wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory");
}
