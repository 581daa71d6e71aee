// Machine code is read as it is, and walked as a GPU walks it: what its instructions compute.
#include <criterion/criterion.h>
#include <string.h>

#include "simt/clock/walk_compute.h"

static struct sass decoded(uint64_t lo, uint64_t hi)
{
    struct sass s;
    sass_decode(lo, hi, 90, &s);
    return s;
}

// The words and their meaning are from a listing of nvdisasm.
Test(walk, fields_of_an_instruction_are_where_nvdisasm_sees_them)
{
    struct sass s = decoded(0x000000061a087211, 0x080fe400078210ff);  // LEA R8, P1, R26, R6.reuse, 0x2
    cr_expect_str_eq(sass_name(&s), "LEA");
    cr_expect(s.d == 8 && s.a == 26 && s.b == 6, "R%u, R%u, R%u", s.d, s.a, s.b);
    cr_expect(s.stall == 2 && s.writes == 7 && s.waits == 0 && s.reuse == 2, "stall %u, reuse %u", s.stall, s.reuse);
    s = decoded(0x0000000c08178981, 0x0002a8000c1e1900);  // @!P0 LDG.E R23, [R8.64]
    cr_expect_str_eq(sass_name(&s), "LDG");
    cr_expect(s.guard == 0 && s.guard_not && s.d == 23 && s.a == 8 && s.bytes == 4);
    cr_expect(s.writes == 2 && s.reads == 1 && s.stall == 4, "writes %u, reads %u", s.writes, s.reads);
    s = decoded(0x0000000c00908947, 0x000fec0003800000);  // @!P0 BRA 0xf80, at 0x130
    cr_expect_str_eq(sass_name(&s), "BRA");
    cr_expect_eq(s.offset, 0xf80 - 0x140);
    s = decoded(0x00400006008c783b, 0x000e620008004200);  // LDSM.16.MT88.4 R140, [R0+UR6+0x4000]
    cr_expect(s.bytes == 16 && s.offset == 0x4000 && s.d == 140 && s.writes == 1);
    s = decoded(0x1ff, 0);
    cr_expect_str_eq(sass_name(&s), "0x1ff");
    cr_expect_eq(s.pipe, PIPE_UNKNOWN);
}

// The smaller of R3 - 4 and R6, by which steps stay inside a matrix.
Test(walk, the_smaller_of_a_sum_and_a_register_is_computed)
{
    static uint32_t values[WALK_VALUES * WALK_LANES];
    struct cubin cubin = { .cc = 90 };
    const struct walk_launch launch = { .cubin = &cubin };
    struct walk_warp w = { .launch = &launch, .values = values };
    const struct sass s = decoded(0xfffffffc03067846, 0x000fe20003800106);  // VIADDMNMX R6, R3, -0x4, R6, PT
    cr_assert_str_eq(sass_name(&s), "VIADDMNMX");
    w.known[3] = w.known[6] = 0xffffffff;
    for (unsigned i = 0; i < WALK_LANES; i++) {
        values[3 * WALK_LANES + i] = 1024;
        values[6 * WALK_LANES + i] = i ? i * 100 : (uint32_t)-7;
    }
    walk_compute(&w, &s, 0xffffffff);
    cr_expect_eq(w.known[6], 0xffffffff);
    for (unsigned i = 0; i < WALK_LANES; i++) {
        const int expected = i == 0 ? -7 : i * 100 < 1020 ? (int)i * 100 : 1020;
        cr_expect_eq((int)values[6 * WALK_LANES + i], expected, "lane %u: %d", i, (int)values[6 * WALK_LANES + i]);
    }
}

// Runs an instruction of 9.0 on a warp whose registers r, r + 1, ... hold the values of every lane; returns register d.
static uint32_t computed(uint64_t lo, uint64_t hi, unsigned r, const uint32_t *registers, unsigned n, unsigned d,
                         bool *known)
{
    static uint32_t values[WALK_VALUES * WALK_LANES];
    struct cubin cubin = { .cc = 90 };
    const struct walk_launch launch = { .cubin = &cubin };
    struct walk_warp w = { .launch = &launch, .values = values };
    const struct sass s = decoded(lo, hi);
    for (unsigned i = 0; i < n; i++) {
        w.known[r + i] = 0xffffffff;
        for (unsigned lane = 0; lane < WALK_LANES; lane++)
            values[(r + i) * WALK_LANES + lane] = registers[i];
    }
    walk_compute(&w, &s, 0xffffffff);
    *known = w.known[d] == 0xffffffff;
    return values[d * WALK_LANES];
}

// Which bit negates an operand depends on the field in which it is: VIADDMNMX R4, R3, -R6, 0x10, !PT has R6 where else
// c is, IMAD R4, R3, R6, -UR9 has UR9 where else b is, and the upper bit of an immediate negates nothing.
Test(walk, an_operand_is_negated_by_the_bit_of_its_field)
{
    const uint32_t values[4] = { 100, 0, 0, 30 };
    bool known;
    cr_expect_eq(computed(0x0000001003047446, 0x000fe20007800906, 3, values, 4, 4, &known), 70);
    cr_expect_eq(computed(0x0000001003047446, 0x000fe20007800106, 3, values, 4, 4, &known), 130);
    cr_expect_eq(computed(0xfffffff003047424, 0x000fe2000f8e0206, 3, values, 4, 4, &known), 2984);  // ..., R6, -0x10
    cr_expect(known);
    const struct sass s = decoded(0x8000000903047e24, 0x000fe2000f8e0206);
    cr_expect(sass_negates_c(&s) && !sass_negates_b(&s));
}

// ptxas clears two registers at once with it: CS2R R112, SRZ, and one with CS2R.32.
Test(walk, cs2r_clears_two_registers)
{
    bool known;
    cr_expect(computed(0x0000000000707805, 0x000fe4000001ff00, 0, NULL, 0, 113, &known) == 0 && known);
    computed(0x0000000000707805, 0x000fe4000000ff00, 0, NULL, 0, 113, &known);
    cr_expect(!known, "CS2R.32 leaves the next register alone");
}

// FLO.U32.SH R2, UR4: how far the highest one is from bit 31; without .SH its number. UBREV UR4, UR5: bits in reverse.
Test(walk, the_highest_bit_and_the_reverse_of_a_uniform_register)
{
    const uint32_t value = 0x00300000;
    bool known;
    cr_expect_eq(computed(0x0000000400027d00, 0x000ee200080e0400, WALK_UNIFORM + 4, &value, 1, 2, &known), 10);
    cr_expect(known);
    cr_expect_eq(computed(0x0000000400027d00, 0x000ee200080e0000, WALK_UNIFORM + 4, &value, 1, 2, &known), 21);
    cr_expect_eq(
        computed(0x00000005000472be, 0x000fe20008000000, WALK_UNIFORM + 5, &value, 1, WALK_UNIFORM + 4, &known),
        0x00000c00);
    cr_expect(known);
}

// UIADD3.64 UR16, UR16, 0x6, URZ adds to two uniform registers, and leaves R16 alone.
Test(walk, a_sum_of_64_bits_of_uniform_registers)
{
    const uint32_t values[2] = { 0xfffffffc, 7 };
    const uint64_t lo = 0x0000000610107897, hi = 0x000fe4000fffe03f;
    const unsigned ur16 = WALK_UNIFORM + 16;
    bool known;
    cr_expect(computed(lo, hi, ur16, values, 2, ur16, &known) == 2 && known);
    cr_expect(computed(lo, hi, ur16, values, 2, ur16 + 1, &known) == 8 && known);
    cr_expect(computed(lo, hi, 16, values, 2, 16, &known) == 0xfffffffc && known);
    cr_expect_eq(decoded(lo, hi).pipe, PIPE_UNIFORM);
}

// An address that follows from what an array holds is known: LDG R23, [R8.64] brings it, also as a signed byte. A
// strong load may wait for what another thread stores, and an address outside of the arrays is none of theirs.
Test(walk, a_load_brings_what_an_array_of_the_launch_holds)
{
    static const unsigned char data[256] = { [4] = 7, [5] = 1, [124] = 0x80 };
    const struct simt_array array = { 1ull << 40, sizeof data, data };
    struct cubin cubin = { .cc = 90 };
    const struct walk_launch launch = { .cubin = &cubin, .arrays = &array, .n_arrays = 1 };
    static uint32_t values[WALK_VALUES * WALK_LANES];
    struct walk_warp w = { .launch = &launch, .values = values };
    struct sass s = decoded(0x0000000c08178981, 0x0002a8000c1e1900);
    struct walk_event e = { .s = &s, .mask = 0xfffffffe, .has_address = true };
    for (unsigned i = 0; i < WALK_LANES; i++)
        e.address[i] = array.address + 4ull * i;
    cr_expect(walk_data(&w, &e));
    cr_expect_eq(w.known[23], 0xfffffffe);
    cr_expect(values[23 * WALK_LANES] == 0 && values[23 * WALK_LANES + 1] == 0x107);
    s = decoded(0x0000000c08178981, 0x0002a8000c1e1300);  // .S8
    cr_expect(walk_data(&w, &e) && values[23 * WALK_LANES + 31] == 0xffffff80);
    s = decoded(0x0000000c08178981, 0x0002a8000c1ef900);  // .STRONG.GPU
    cr_expect_not(walk_data(&w, &e));
    s = decoded(0x0000000c08178981, 0x0002a8000c1e1900);
    e.address[31] = array.address + sizeof data - 3;
    cr_expect_not(walk_data(&w, &e));
}

// What a shuffle that nvdisasm knows as SHFL.IDX R0, R0, RZ, 0x1f and its like make of lane numbers times 3.
Test(walk, a_shuffle_brings_another_lanes_value)
{
    static const struct {
        uint64_t lo;
        unsigned from[4];  // of lanes 0, 1, 17 and 31
    } shuffles[] = {
        { 0x00001fff00007589, { 0, 0, 0, 0 } },    // IDX R0, R0, RZ, 0x1f
        { 0x00601f0000007f89, { 3, 3, 3, 3 } },    // IDX R0, R0, 0x3, 0x1f
        { 0x0420000000007f89, { 0, 0, 16, 30 } },  // UP R0, R0, 0x1, RZ
        { 0x08201f0000007f89, { 1, 2, 18, 31 } },  // DOWN R0, R0, 0x1, 0x1f
        { 0x0c201f0000007f89, { 1, 0, 16, 30 } },  // BFLY R0, R0, 0x1, 0x1f
    };
    static const unsigned lanes[] = { 0, 1, 17, 31 };
    for (size_t i = 0; i < sizeof shuffles / sizeof *shuffles; i++) {
        static uint32_t values[WALK_VALUES * WALK_LANES];
        struct cubin cubin = { .cc = 90 };
        const struct walk_launch launch = { .cubin = &cubin };
        struct walk_warp w = { .launch = &launch, .values = values };
        const struct sass s = decoded(shuffles[i].lo, 0x000ee200000e0000);
        cr_assert_str_eq(sass_name(&s), "SHFL");
        w.known[0] = 0xffffffff;
        for (unsigned lane = 0; lane < WALK_LANES; lane++)
            values[lane] = 3 * lane;
        walk_compute(&w, &s, 0xffffffff);
        cr_expect_eq(w.known[0], 0xffffffff);
        for (size_t n = 0; n < 4; n++)
            cr_expect_eq(values[lanes[n]], 3 * shuffles[i].from[n], "shuffle %zu, lane %u: %u", i, lanes[n],
                         values[lanes[n]]);
    }
}

// IMAD.HI.U32 R3, R3, R5, R2: the reciprocal of a division by 32, whose last step adds R3 above R2 = 0.
Test(walk, the_addend_of_imad_hi_is_a_pair)
{
    static const uint32_t registers[] = { 0, 0x07fffff0, 0, 0u - 32 * 0x07fffff0u };  // R2 to R5
    const uint64_t expected = ((uint64_t)registers[1] * registers[3] + ((uint64_t)registers[1] << 32)) >> 32;
    bool known;
    cr_expect_eq(computed(0x0000000503037227, 0x000fe200078e0002, 2, registers, 4, 3, &known), (uint32_t)expected);
    cr_expect(known && (uint32_t)expected == 0x07ffffff, "0x%x", (unsigned)expected);
}

// Where a warp of 32 threads is after a branch over one instruction, on a predicate that depends on data.
static uint32_t after_branch(struct sass over)
{
    struct sass code[] = { decoded(0x0000000000040947, 0x000fea0003800000),  // @P0 BRA, to the EXIT
                           over, decoded(0x000000000000794d, 0x000fea0003800000) };
    struct cubin cubin = { .cc = 90, .code = code, .n = 3 };
    const struct walk_launch launch = { .cubin = &cubin, .grid = { 1, 1, 1 }, .block = { 32, 1, 1 } };
    const unsigned block[3] = { 0 };
    struct walk_warp w = { 0 };
    struct walk_event e;
    uint32_t pc = UINT32_MAX;
    cr_assert(walk_begin(&w, &launch, block, 0));
    w.predicates_known[0] = 0;
    walk_step(&w, &e);
    cr_expect_eq(w.unknown_branches, 1);
    cr_assert(walk_next(&w, &pc));
    walk_end(&w);
    return pc;
}

Test(walk, a_branch_that_depends_on_data_leads_past_the_slow_path_of_a_division)
{
    cr_expect_eq(after_branch(decoded(0x0000000000207944, 0x003fea0003c00000)), 2, "over CALL");
    cr_expect_eq(after_branch(decoded(0x0000000000007918, 0x000fc40000000000)), 1, "over NOP");
}

// HMMA.16816.F16 R6, R72, R54, R4, and the same with sums of f32.
Test(walk, sums_of_f16_are_two_registers)
{
    static const uint32_t address[] = { 0x400 };
    bool known;
    cr_expect(computed(0x000000364806723c, 0x040fec0000000806, 8, address, 1, 8, &known) == 0x400 && known);
    computed(0x000000364806723c, 0x040fec0000001806, 8, address, 1, 8, &known);
    cr_expect(!known, "of f32 they are four");
}

// F2F.BF16.F32 R18, R18 and VIMNMX3 R10, R10, R13, R12 leave the next register alone: it may be the half of an address.
Test(walk, a_conversion_and_the_smallest_of_three_write_one_register)
{
    static const uint32_t address[] = { 0x400 };
    bool known;
    cr_expect(computed(0x0000001200127304, 0x000e220000202000, 19, address, 1, 19, &known) == 0x400 && known);
    cr_expect(computed(0x0000000d0a0a720f, 0x004fe2000380010c, 11, address, 1, 11, &known) == 0x400 && known);
    computed(0x0000001200127310, 0x000e220000202000, 19, address, 1, 19, &known);
    cr_expect(!known, "to f64 they are two");
}

// PRMT R12, RZ, 0x7610, R12 replaces the lower half of a register that nothing has written before.
Test(walk, what_a_register_holds_at_first_makes_no_difference)
{
    struct sass code[] = { decoded(0x00007610ff0c7816, 0x000fe2000000000c),
                           decoded(0x000000000000794d, 0x000fea0003800000) };
    struct cubin cubin = { .cc = 90, .code = code, .n = 2 };
    const struct walk_launch launch = { .cubin = &cubin, .grid = { 1, 1, 1 }, .block = { 32, 1, 1 } };
    const unsigned block[3] = { 0 };
    struct walk_warp w = { 0 };
    struct walk_event e;
    cr_assert(walk_begin(&w, &launch, block, 0));
    walk_step(&w, &e);
    cr_expect(w.known[12] == 0xffffffff && w.values[12 * WALK_LANES] == 0);
    walk_end(&w);
}

// PRMT R12, R20, 0x7610, R12, where R12 is not known: a 16-bit variable's new value.
Test(walk, a_16_bit_variable_is_known_by_its_lower_half)
{
    static const uint32_t value[] = { 7 };
    bool known;
    cr_expect((computed(0x00007610140c7816, 0x000fc6000000000c, 20, value, 1, 12, &known) & 0xffff) == 7 && known);
    computed(0x00005410140c7816, 0x000fc6000000000c, 20, value, 1, 12, &known);
    cr_expect(!known, "the lower halves of R20 and R12");
}

Test(walk, what_is_no_cubin_is_refused)
{
    char error[200] = "";
    unsigned char junk[4096];
    for (size_t i = 0; i < sizeof junk; i++)
        junk[i] = (unsigned char)(i * 7);
    cr_expect_null(cubin_read(junk, sizeof junk, "gemm", error));
    cr_expect_str_eq(error, "not a cubin");
    memcpy(junk, "\177ELF\2", 5);
    cr_expect_null(cubin_read(junk, sizeof junk, "gemm", error));
    cr_expect_str_eq(error, "the cubin's section table is broken");
    cr_expect_null(cubin_read(junk, 3, "gemm", error));
}
