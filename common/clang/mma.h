// nvcuda::wmma by clang's builtins: products of halves, summed in float or in half, of 16 x 16 x 16, 32 x 8 x 16 and
// 8 x 32 x 16. Other types need nvcc. Sources: CUDA C++ Programming Guide 13.0, section 10.24 (warp matrix functions);
// PTX ISA 9.0, section 9.7.14.4 (wmma).
#pragma once
#include "cuda_fp16.h"

namespace nvcuda::wmma
{

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

// A lane's part of a fragment. Halves of A and B are there twice: 16 of them for any shape.
template <class Use, int M, int N, int K, class T, class Layout = void> struct fragment;

template <int M, int N, int K, class Layout> struct fragment<matrix_a, M, N, K, half, Layout> {
    enum { num_elements = 16 };
    half x[num_elements];
};
template <int M, int N, int K, class Layout> struct fragment<matrix_b, M, N, K, half, Layout> {
    enum { num_elements = 16 };
    half x[num_elements];
};
template <int M, int N, int K> struct fragment<accumulator, M, N, K, float, void> {
    enum { num_elements = 8 };
    float x[num_elements];
};
template <int M, int N, int K> struct fragment<accumulator, M, N, K, half, void> {
    enum { num_elements = 8 };
    half x[num_elements];
};

template <class F, class T> CLANG_DEVICE void fill_fragment(F &f, T value)
{
    for (auto &x : f.x)
        x = value;
}

// How PTX and the builtins number the layouts.
template <class Layout> constexpr int clang_layout = 1;
template <> constexpr int clang_layout<row_major> = 0;

// A fragment of A or B: 8 registers. In shared memory the load is ldmatrix, so PTX has to be told that it is there. The
// course's translator (common/irptx) finds out which memory a pointer points to; clang's own does not: the pointer is
// asked.
#ifdef COURSE_TRANSLATOR
#define CLANG_WMMA_LOAD(letter, layout, shape) __hmma_##shape##_ld_##letter((int *)f.x, (const int *)p, ld, layout)
#else
#define CLANG_WMMA_LOAD(letter, layout, shape) CLANG_WMMA_ASK(CLANG_WMMA_LOAD_##layout(#letter, #shape))
#define CLANG_WMMA_LOAD_0(letter, shape) letter ".sync.aligned.row." shape
#define CLANG_WMMA_LOAD_1(letter, shape) letter ".sync.aligned.col." shape
#define CLANG_WMMA_ASK(what)                                                                                           \
    unsigned *r = (unsigned *)f.x;                                                                                     \
    asm volatile("{\n\t.reg .pred in_shared;\n\tisspacep.shared in_shared, %8;\n\t"                                    \
                 "@in_shared wmma.load." what ".shared.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%9], %10;\n\t"           \
                 "@!in_shared wmma.load." what ".f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %10;\n\t}"                \
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])      \
                 : "l"(p), "l"(__cvta_generic_to_shared(p)), "r"(ld)                                                   \
                 : "memory")
#endif
#define CLANG_WMMA_LOADS(M, N, K, use, letter, shape)                                                                  \
    template <class L>                                                                                                 \
    CLANG_DEVICE void load_matrix_sync(fragment<use, M, N, K, half, L> &f, const half *p, unsigned ld)                 \
    {                                                                                                                  \
        if constexpr (clang_layout<L> == 0) {                                                                          \
            CLANG_WMMA_LOAD(letter, 0, shape);                                                                         \
        } else {                                                                                                       \
            CLANG_WMMA_LOAD(letter, 1, shape);                                                                         \
        }                                                                                                              \
    }

// Accumulators of one type, which the builtins take as registers of another. Layouts are constants to them: 0 for rows,
// 1 for columns; for a product 2 * A's layout + B's, with columns 1.
#define CLANG_WMMA_SUMS(M, N, K, type, reg, load, store, product)                                                      \
    CLANG_DEVICE void load_matrix_sync(fragment<accumulator, M, N, K, type> &f, const type *p, unsigned ld,            \
                                       layout_t layout)                                                                \
    {                                                                                                                  \
        if (layout == mem_row_major)                                                                                   \
            load((reg *)f.x, (const reg *)p, ld, 0);                                                                   \
        else                                                                                                           \
            load((reg *)f.x, (const reg *)p, ld, 1);                                                                   \
    }                                                                                                                  \
    CLANG_DEVICE void store_matrix_sync(type *p, const fragment<accumulator, M, N, K, type> &f, unsigned ld,           \
                                        layout_t layout)                                                               \
    {                                                                                                                  \
        if (layout == mem_row_major)                                                                                   \
            store((reg *)p, (reg *)f.x, ld, 0);                                                                        \
        else                                                                                                           \
            store((reg *)p, (reg *)f.x, ld, 1);                                                                        \
    }                                                                                                                  \
    template <class LA, class LB>                                                                                      \
    CLANG_DEVICE void mma_sync(                                                                                        \
        fragment<accumulator, M, N, K, type> &d, const fragment<matrix_a, M, N, K, half, LA> &a,                       \
        const fragment<matrix_b, M, N, K, half, LB> &b, const fragment<accumulator, M, N, K, type> &c)                 \
    {                                                                                                                  \
        product((reg *)d.x, (const int *)a.x, (const int *)b.x, (const reg *)c.x,                                      \
                2 * clang_layout<LA> + clang_layout<LB>, 0);                                                           \
    }
#define CLANG_WMMA(M, N, K, shape)                                                                                     \
    CLANG_WMMA_LOADS(M, N, K, matrix_a, a, shape)                                                                      \
    CLANG_WMMA_LOADS(M, N, K, matrix_b, b, shape)                                                                      \
    CLANG_WMMA_SUMS(M, N, K, float, float, __hmma_##shape##_ld_c_f32, __hmma_##shape##_st_c_f32,                       \
                    __hmma_##shape##_mma_f32f32)                                                                       \
    CLANG_WMMA_SUMS(M, N, K, half, int, __hmma_##shape##_ld_c_f16, __hmma_##shape##_st_c_f16,                          \
                    __hmma_##shape##_mma_f16f16)
CLANG_WMMA(16, 16, 16, m16n16k16)
CLANG_WMMA(32, 8, 16, m32n8k16)
CLANG_WMMA(8, 32, 16, m8n32k16)
#undef CLANG_WMMA
#undef CLANG_WMMA_SUMS
#undef CLANG_WMMA_LOADS
#undef CLANG_WMMA_LOAD
#undef CLANG_WMMA_LOAD_0
#undef CLANG_WMMA_LOAD_1
#undef CLANG_WMMA_ASK

}  // namespace nvcuda::wmma
