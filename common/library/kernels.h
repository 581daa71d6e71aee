// The kernels inside of the library: their PTX, and one table that says what each can do and what it costs. embed.sh
// makes the arrays, meson.build says of what.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define KERNEL(id, ...) extern const char kernel_##id[];
#include "kernels.def"
#undef KERNEL

enum kernel_id {
#define KERNEL(id, ...) PTX_##id,
#include "kernels.def"
#undef KERNEL
    KERNELS
};

// The constants of the rule that chooses, see pick.c. Only what fits them to measured times changes them.
enum rule_id {
#define RULE(name, value, what) name,
#include "rule.def"
#undef RULE
    RULES
};
extern double rule[RULES];

// A kernel's: cycles from one step along K to the next of a block that is alone on its SM, and of as many as an SM can
// have, for each of them. Of hopper.cu: a launch until the first tiles are there, and cycles of the tensor cores for a
// step along K.
enum { ALONE, BUSY };

// What a kernel is: the step of the course as it stands, for products that its driver can state; any.cu; mma.cu;
// rows.cu; hopper.cu; pack.cu, which multiplies nothing.
enum kernel_kind { KERNEL_STEP, KERNEL_ANY, KERNEL_MMA, KERNEL_ROWS, KERNEL_HOPPER, KERNEL_PACK };

struct kernel {
    enum kernel_kind kind;
    const char *file, *step;  // for messages, and for gemm_steps_kernel
    const char *ptx;          // "": what compiled the library cannot compile this one
    int type;                 // of A and B: ARGS_F32, ... ; 0: halves and bf16
    int oldest, newest;       // compute capabilities
    int m, n, k;  // its tile; rows.cu: the most rows, columns of a block (of 16 bytes each), the most of K in a part
    int of_sm;    // blocks that an SM can have at a time
    enum rule_id costs;  // the first of its two constants of the rule
};

extern const struct kernel kernels[KERNELS];

// What the PTX of hopper.cu and mma.cu can be made into: halves, neither of them transposed, are 0.
// WORDS_NARROW: of mma.cu, 0 to 3 times, for 8, 4, 2 or 1 neighbours that are copied at once.
enum { WORDS_TURN_B = 1, WORDS_TURN_A = 2, WORDS_BF16 = 4, WORDS_NARROW_A = 8, WORDS_NARROW_B = 32, WORDS = 128 };

// That PTX with other words, to be freed. NULL: there is no memory.
char *kernel_words(const struct kernel *k, int words);
