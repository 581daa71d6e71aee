// The patterns, a fact each. See patterns.h for how they are written.
#include "patterns.h"

#define NONE "-,-,-"

const struct register_pattern register_patterns[] = {
    { "free", NONE, "-", 0, NULL },

    // The operands of an instruction are read within two cycles, a bank one in each.
    { "read_2_even", "0,-,2", "-", 0, NULL },
    { "read_2_even_1_of_2", "0,-,2 " NONE, "-", 0, NULL },
    { "read_2_even_2_of_4", "2*0,-,2 2*" NONE, "-", 0, NULL },
    { "read_2_even_4_of_8", "4*0,-,2 4*" NONE, "-", 0, NULL },
    { "read_2_even_8_of_16", "8*0,-,2 8*" NONE, "-", 0, NULL },
    { "read_2_even_2_odd", "0,-,2 1,-,3", "-", 0, NULL },
    { "read_2_even_2_odd_two_and_two", "2*0,-,2 2*1,-,3", "-", 0, NULL },
    { "read_2_even_1_odd", "0,2,1", "-", 0, NULL },
    { "read_3_even", "0,2,4", "-", 0, NULL },
    { "read_3_even_1_free", "0,2,4 " NONE, "-", 0, NULL },
    { "read_3_even_2_free", "0,2,4 2*" NONE, "-", 0, NULL },
    { "read_3_even_3_free", "0,2,4 3*" NONE, "-", 0, NULL },
    { "read_places_a_b", "0,2,-", "-", 0, NULL },
    { "read_places_b_c", "-,0,2", "-", 0, NULL },
    { "read_one_twice", "0,0,-", "-", 0, NULL },
    { "read_one_three_times", "0,0,0", "-", 0, NULL },

    // The reuse cache has a place for each bank and operand.
    { "reuse_none", "0,-,- " NONE " 0,4,2 2*" NONE, "-", 0, NULL },
    { "reuse", "0',-,- " NONE " 0,4,2 2*" NONE, "-", 0, NULL },
    { "reuse_over_odd", "0',-,- 1,-,- 0,4,2 2*" NONE, "-", 0, NULL },
    { "reuse_over_even", "0',-,- 2,-,- 0,4,2 2*" NONE, "-", 0, NULL },
    { "reuse_over_even_elsewhere", "0',-,- -,2,- 0,4,2 2*" NONE, "-", 0, NULL },
    { "reuse_elsewhere", "0',-,- " NONE " 4,0,2 2*" NONE, "-", 0, NULL },

    // What comes back from memory takes write ports, those of both banks if it has 64 bits. It waits for a free cycle
    // for 16 cycles, then it takes one.
    { "nop", NONE, "16", 64, "nop" },
    { "lds32_among_even", NONE, "16", 64, "lds32 8" },
    { "lds32_among_odd", NONE, "17", 64, "lds32 8" },
    { "lds32_among_both", NONE, "16 17", 64, "lds32 8" },
    { "lds32_odd_among_odd", NONE, "17", 64, "lds32 9" },
    { "lds32_free_after_3", NONE, "3*16 -", 64, "lds32 8" },
    { "lds32_free_after_24", NONE, "24*16 -", 64, "lds32 8" },
    { "lds32_free_at_28", NONE, "28*16 - 34*16", 64, "lds32 8" },
    { "lds32_free_at_36", NONE, "36*16 - 26*16", 64, "lds32 8" },
    { "lds64_among_even", NONE, "16", 64, "lds64 8" },
    { "lds64_among_odd", NONE, "17", 64, "lds64 8" },
    { "lds64_among_both", NONE, "16 17", 64, "lds64 8" },
    { "lds64_free_after_3", NONE, "3*16 -", 64, "lds64 8" },
    { "lds64_free_after_8", NONE, "8*16 -", 64, "lds64 8" },
    { "lds64_free_after_16", NONE, "16*16 -", 64, "lds64 8" },
    { "lds64_free_after_24", NONE, "24*16 -", 64, "lds64 8" },
    { "lds128_among_even", NONE, "16", 64, "lds128 8" },
    { "lds128_among_both", NONE, "16 17", 64, "lds128 8" },
    { "lds128_free_after_3", NONE, "3*16 -", 64, "lds128 8" },
    { "lds128_free_after_8", NONE, "8*16 -", 64, "lds128 8" },
    { "lds128_free_after_24", NONE, "24*16 -", 64, "lds128 8" },

    // Stores read their data through the banks, too.
    { "sts32_among_even", "0,-,-", "-", 64, "sts32 8" },
    { "sts32_among_odd", "1,-,-", "-", 64, "sts32 8" },
    { "sts32_among_both", "0,-,1", "-", 64, "sts32 8" },
    { "sts32_among_even_and_none", "0,-,- " NONE, "-", 64, "sts32 8" },
    { "sts64_among_even", "0,-,-", "-", 64, "sts64 8" },
    { "sts64_among_both", "0,-,1", "-", 64, "sts64 8" },
    { "sts64_among_even_and_none", "0,-,- " NONE, "-", 64, "sts64 8" },
    { "sts128_among_even", "0,-,-", "-", 64, "sts128 8" },
    { "sts128_among_odd", "1,-,-", "-", 64, "sts128 8" },
    { "sts128_among_both", "0,-,1", "-", 64, "sts128 8" },
    { "sts128_among_even_and_none", "0,-,- " NONE, "-", 64, "sts128 8" },

    // mma reads pairs, and writes pairs.
    { "mma_no_registers", "0,-,-", "-", 32, "mma -,-,->-" },
    { "mma_a", "0,-,-", "-", 32, "mma 4,-,->-" },
    { "mma_b", "0,-,-", "-", 32, "mma -,8,->-" },
    { "mma_c", "0,-,-", "-", 32, "mma -,-,12>-" },
    { "mma_a_b", "0,-,-", "-", 32, "mma 4,8,->-" },
    { "mma_a_b_c", "0,-,-", "-", 32, "mma 4,8,12>-" },
    { "mma_a_b_c_reuse_a", "0,-,-", "-", 32, "mma 4',8,12>-" },
    { "mma_a_b_c_among_odd", "1,-,-", "-", 32, "mma 4,8,12>-" },
    { "mma_a_b_c_among_none", NONE, "-", 32, "mma 4,8,12>-" },
    { "mma_d_among_even", NONE, "16", 32, "mma -,-,->20" },
    { "mma_d_among_odd", NONE, "17", 32, "mma -,-,->20" },
    { "mma_d_among_none", NONE, "-", 32, "mma -,-,->20" },
};
const size_t n_register_patterns = sizeof register_patterns / sizeof *register_patterns;
