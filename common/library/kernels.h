// The kernels inside of the library: their PTX, and one table that says what each can do and what it costs.
// embed.sh makes the arrays, meson.build says of what.
#ifndef LIBRARY_KERNELS_H
#define LIBRARY_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

// X(module, array, name in messages, words). HOPPER: what only an nvcc from 12.0 on can compile. words: of hopper.cu's
// instructions, see modules.c.
#define LIBRARY_MODULES(X, HOPPER)                                                                                     \
    X(f32_whole, f32_whole, "07_double_buffer", 0)                                                                     \
    X(f16_padding, f16_padding, "10_wmma_padding", 0)                                                                  \
    X(f16_async, f16_async, "13_async_copy", 0)                                                                        \
    X(any_f32_128x128, any_f32_128x128, "any.cu", 0)                                                                   \
    X(any_f32_64x128, any_f32_64x128, "any.cu", 0)                                                                     \
    X(any_f32_64x64, any_f32_64x64, "any.cu", 0)                                                                       \
    X(any_f32_quick, any_f32_quick, "any.cu", 0)                                                                       \
    X(any_f32_32x32, any_f32_32x32, "any.cu", 0)                                                                       \
    X(any_f32, any_f32, "any.cu", 0)                                                                                   \
    X(any_f16, any_f16, "any.cu", 0)                                                                                   \
    X(any_bf16, any_bf16, "any.cu", 0)                                                                                 \
    X(mma_f16, mma, "mma.cu", 0)                                                                                       \
    X(mma_bf16, mma, "mma.cu", WORDS_BF16)                                                                             \
    X(mma_small_f16, mma_small, "mma.cu", 0)                                                                           \
    X(mma_small_bf16, mma_small, "mma.cu", WORDS_BF16)                                                                 \
    X(rows_f32, rows_f32, "rows.cu", 0)                                                                                \
    X(rows_f16, rows_f16, "rows.cu", 0)                                                                                \
    X(rows_bf16, rows_bf16, "rows.cu", 0)                                                                              \
    HOPPER(pack, pack, "pack.cu", 0)                                                                                   \
    HOPPER_TILES(HOPPER_TILE, HOPPER)

// The tiles of hopper.cu: rows and columns of C. The build has to know them, too, and rule.def has constants of each.
#define HOPPER_TILES(T, X)                                                                                             \
    T(X, 128, 256)                                                                                                     \
    T(X, 192, 192)                                                                                                     \
    T(X, 128, 192)                                                                                                     \
    T(X, 128, 128)                                                                                                     \
    T(X, 64, 256)                                                                                                      \
    T(X, 64, 192)                                                                                                      \
    T(X, 64, 128)                                                                                                      \
    T(X, 64, 64)                                                                                                       \
    T(X, 224, 128)                                                                                                     \
    T(X, 160, 128)                                                                                                     \
    T(X, 192, 64)                                                                                                      \
    T(X, 128, 64)                                                                                                      \
    T(X, 96, 64)                                                                                                       \
    T(X, 32, 64)

// hopper.cu for a tile: types, and how A and B lie.
#define HOPPER_TILE(HOPPER, m, n)                                                                                      \
    HOPPER(hopper_##m##x##n, hopper_##m##x##n, "hopper.cu", 0)                                                         \
    HOPPER(hopper_##m##x##n##_f16_nt, hopper_##m##x##n, "hopper.cu", WORDS_TURN_B)                                     \
    HOPPER(hopper_##m##x##n##_f16_tn, hopper_##m##x##n, "hopper.cu", WORDS_TURN_A)                                     \
    HOPPER(hopper_##m##x##n##_f16_tt, hopper_##m##x##n, "hopper.cu", WORDS_TURN_A | WORDS_TURN_B)                      \
    HOPPER(hopper_##m##x##n##_bf16_nn, hopper_##m##x##n, "hopper.cu", WORDS_BF16)                                      \
    HOPPER(hopper_##m##x##n##_bf16_nt, hopper_##m##x##n, "hopper.cu", WORDS_BF16 | WORDS_TURN_B)                       \
    HOPPER(hopper_##m##x##n##_bf16_tn, hopper_##m##x##n, "hopper.cu", WORDS_BF16 | WORDS_TURN_A)                       \
    HOPPER(hopper_##m##x##n##_bf16_tt, hopper_##m##x##n, "hopper.cu", WORDS_BF16 | WORDS_TURN_A | WORDS_TURN_B)

enum { WORDS_TURN_B = 1, WORDS_TURN_A = 2, WORDS_BF16 = 4 };

#define X(module, array, name, words)                                                                                  \
    extern const char kernel_##array[];                                                                                \
    extern const size_t kernel_##array##_bytes;
LIBRARY_MODULES(X, X)
#undef X

enum module_id {
#define X(module, array, name, words) MODULE_##module,
    LIBRARY_MODULES(X, X)
#undef X
        MODULES
};

struct module_text {
    const char *name;
    const char *ptx;  // NULL: what compiled the library cannot compile this one
    const size_t *bytes;
    int words;
};

extern const struct module_text module_texts[MODULES];

// The text of hopper.cu's PTX with other words, to be freed. NULL: there is no memory.
char *module_words(const struct module_text *text, size_t *bytes);

// The constants of the rule that chooses, see pick.c. Only what fits them to measured times changes them.
enum rule_id {
#define RULE(name, value, what) name,
#include "rule.def"
#undef RULE
    RULES
};
extern double rule[RULES];

// What a kernel is: the step of the course as it stands, for products that its driver can state; any.cu; mma.cu;
// rows.cu; hopper.cu.
enum kernel_kind { KERNEL_STEP, KERNEL_ANY, KERNEL_MMA, KERNEL_ROWS, KERNEL_HOPPER };

struct kernel {
    enum kernel_kind kind;
    const char *name;       // for gemm_steps_kernel
    int type;               // of A and B: ARGS_F32, ... ; 0: halves and bf16
    enum module_id module;  // of halves: the next is of bf16; hopper.cu: of the first of eight, by how A and B lie, too
    int oldest, newest;     // compute capabilities
    int m, n, k;  // its tile; rows.cu: the most rows, columns of a block (of 16 bytes each), the most of K in a part
    int of_sm;    // blocks that an SM can have at a time
    enum rule_id alone;  // cycles from one step along K to the next, of a block that is alone on its SM
    enum rule_id busy;   // the same, of as many blocks as an SM can have: for each of them
    bool aligned;        // a step: rows begin at multiples of 16 bytes
};

extern const struct kernel kernels[];
extern const int n_kernels;

#endif
