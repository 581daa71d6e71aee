// Instructions that are rare in what nvcc emits: differences, video, packed and 8-bit conversions, movmatrix, hints to
// caches, vectors of atomics, constant expressions. Against plain C on every device. Source: PTX ISA 9.7.
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "int_case.h"

// --- sad ---

WANT(sad, (a > b ? a - b : b - a) + c)

static uint64_t sad_signed(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    const int64_t x = ptx_sign(a, bits), y = ptx_sign(b, bits);
    return (x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x) + c;
}

PTX_TEST(exec_other, sums_of_absolute_differences_of_16_and_64_bits, ints,
         { "sad.u16 %d, %a, %b, %c;", sad, 16, 16, 16, 16, 16 },
         { "sad.s16 %d, %a, %b, %c;", sad_signed, 16, 16, 16, 16, 16 },
         { "sad.u64 %d, %a, %b, %c;", sad, 64, 64, 64, 64, 64 },
         { "sad.s64 %d, %a, %b, %c;", sad_signed, 64, 64, 64, 64, 64 })

// --- constant expressions and constant predicates ---

WANT(plus_67, a + 67)
WANT(first, a)
WANT(second, b)

PTX_TEST(exec_other, operands_may_be_constant_expressions, ints,
         { "add.u32 %d, %a, (1 << 6) + 3;", plus_67, 32, 32, 32, 32, 0 },
         { "add.u32 %d, %a, 4 * (20 - 3) - 1;", plus_67, 32, 32, 32, 32, 0 },
         { "add.u32 %d, %a, 2 + 0x41;", plus_67, 32, 32, 32, 32, 0 },
         { "add.u32 %d, %a, WARP_SZ + 35;", plus_67, 32, 32, 32, 32, 0 },
         { "add.u32 %d, %a, 64 | 7 & 3;", plus_67, 32, 32, 32, 32, 0 },
         { "sub.u32 %d, %a, -(64 + 3);", plus_67, 32, 32, 32, 32, 0 },
         { "sub.u32 %d, %a, ~66;", plus_67, 32, 32, 32, 32, 0 })

PTX_TEST(exec_other, predicates_may_be_constants, ints, { "selp.b32 %d, %a, %b, 1;", first, 32, 32, 32, 32, 0 },
         { "selp.b32 %d, %a, %b, 0;", second, 32, 32, 32, 32, 0 })

// --- packed conversions ---

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

// The low bits of an s32 that is clamped.
static uint64_t part(uint64_t v, int64_t low, int64_t high, unsigned n)
{
    return (uint64_t)clamp(ptx_sign(v, 32), low, high) & ((1u << n) - 1);
}

WANT(pack_s16, part(a, -32768, 32767, 16) << 16 | part(b, -32768, 32767, 16))
WANT(pack_u16, part(a, 0, 65535, 16) << 16 | part(b, 0, 65535, 16))
WANT(pack_u8, (c << 16 & 0xffff0000) | part(a, 0, 255, 8) << 8 | part(b, 0, 255, 8))
WANT(pack_s4, (c << 8 & 0xffffff00) | part(a, -8, 7, 4) << 4 | part(b, -8, 7, 4))

PTX_TEST(exec_other, integers_are_clamped_and_packed, ints_sm_90,
         { "cvt.pack.sat.s16.s32 %d, %a, %b;", pack_s16, 32, 32, 32, 32, 0 },
         { "cvt.pack.sat.u16.s32 %d, %a, %b;", pack_u16, 32, 32, 32, 32, 0 },
         { "cvt.pack.sat.u8.s32.b32 %d, %a, %b, %c;", pack_u8, 32, 32, 32, 32, 32 },
         { "cvt.pack.sat.s4.s32.b32 %d, %a, %b, %c;", pack_s4, 32, 32, 32, 32, 32 })

// --- 8-bit floating point: the number nearest to x among all 256, ties to the even code ---

static double fp8_value(unsigned code, bool e4m3)
{
    const int mantissa = e4m3 ? 3 : 2, bias = e4m3 ? 7 : 15;
    const int e = (int)(code & 0x7f) >> mantissa, m = (int)code & ((1 << mantissa) - 1);
    if (e4m3 ? (code & 0x7f) == 0x7f : e == 31)
        return e4m3 || m ? (double)NAN : code & 0x80 ? -(double)INFINITY : (double)INFINITY;
    const double size = e ? ldexp((1 << mantissa) + m, e - bias - mantissa) : ldexp(m, 1 - bias - mantissa);
    return code & 0x80 ? -size : size;
}

static uint64_t fp8_nearest(double x, bool e4m3, bool relu)
{
    const unsigned largest = e4m3 ? 0x7e : 0x7b;
    unsigned best = 0;
    if (isnan(x))
        return 0x7f;
    if (relu && x <= 0)
        return 0;
    const double size = fmin(fabs(x), fp8_value(largest, e4m3));
    for (unsigned code = 1; code <= largest; code++) {
        const double d = fabs(size - fp8_value(code, e4m3)), old = fabs(size - fp8_value(best, e4m3));
        if (d < old || (d == old && code % 2 == 0))
            best = code;
    }
    return best | (signbit(x) ? 0x80 : 0);
}

static uint64_t fp8_pair(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    const bool e4m3 = bits & 1, relu = bits & 2;
    return fp8_nearest(ptx_float(a), e4m3, relu) << 8 | fp8_nearest(ptx_float(b), e4m3, relu) | 0 * c;
}

static uint64_t fp8_of_halves(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    const bool e4m3 = bits & 1, relu = bits & 2;
    return fp8_nearest(ptx_value(a >> 16, PTX_F16S), e4m3, relu) << 8 |
           fp8_nearest(ptx_value(a & 0xffff, PTX_F16S), e4m3, relu) | 0 * (b + c);
}

static uint64_t half_of_fp8(unsigned code, bool e4m3, bool relu)
{
    const double x = fp8_value(code, e4m3);
    return relu && x <= 0 ? 0 : ptx_of_half(x, PTX_F16S, 'n');
}

static uint64_t halves_of_fp8(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    const bool e4m3 = bits & 1, relu = bits & 2;
    return half_of_fp8(a >> 8 & 255, e4m3, relu) << 16 | half_of_fp8(a & 255, e4m3, relu) | 0 * (b + c);
}

Test(exec_other, numbers_become_8_bits_and_back)
{
    static const struct ptx_case floats[] = {
        { "cvt.rn.satfinite.e4m3x2.f32 %d, %a, %b;", fp8_pair, 1, 16, 32, 32, 0 },
        { "cvt.rn.satfinite.e5m2x2.f32 %d, %a, %b;", fp8_pair, 0, 16, 32, 32, 0 },
        { "cvt.rn.satfinite.relu.e4m3x2.f32 %d, %a, %b;", fp8_pair, 3, 16, 32, 32, 0 },
    };
    static const struct ptx_case halves[] = {
        { "cvt.rn.satfinite.e4m3x2.f16x2 %d, %a;", fp8_of_halves, 1, 16, 32, 0, 0 },
        { "cvt.rn.satfinite.e5m2x2.f16x2 %d, %a;", fp8_of_halves, 0, 16, 32, 0, 0 },
    };
    static const struct ptx_case back[] = {
        { "cvt.rn.f16x2.e4m3x2 %d, %a;", halves_of_fp8, 1, 32, 16, 0, 0 },
        { "cvt.rn.f16x2.e5m2x2 %d, %a;", halves_of_fp8, 0, 32, 16, 0, 0 },
        { "cvt.rn.relu.f16x2.e4m3x2 %d, %a;", halves_of_fp8, 3, 32, 16, 0, 0 },
    };
    ptx_cases_check(floats, PTX_COUNTOF(floats), (struct ptx_operands){ PTX_F32S, PTX_F32S, PTX_F32S, true });
    ptx_cases_check(halves, PTX_COUNTOF(halves), (struct ptx_operands){ PTX_F16S, PTX_F16S, PTX_F16S, true });
    ptx_cases_check(back, PTX_COUNTOF(back), (struct ptx_operands){ PTX_INTS, PTX_INTS, PTX_INTS, true });
}

// --- video ---

static int64_t byte_of(uint64_t v, unsigned i, bool is_signed)
{
    return is_signed ? ptx_sign(v >> 8 * i, 8) : (int64_t)(v >> 8 * i & 255);
}

static uint64_t absdiff4_sum(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    for (unsigned i = 0; i < 4; i++) {
        const int64_t d = byte_of(a, i, bits) - byte_of(b, i, bits);
        c += (uint64_t)(d < 0 ? -d : d);
    }
    return c;
}

static uint64_t absdiff4(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    uint64_t d = 0 * (c + bits);
    for (unsigned i = 0; i < 4; i++) {
        const int64_t x = byte_of(a, i, false) - byte_of(b, i, false);
        d |= (uint64_t)(x < 0 ? -x : x) << 8 * i;
    }
    return d;
}

static uint64_t add4_sat(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    uint64_t d = 0 * (c + bits);
    for (unsigned i = 0; i < 4; i++)
        d |= ((uint64_t)clamp(byte_of(a, i, true) + byte_of(b, i, true), -128, 127) & 255) << 8 * i;
    return d;
}

static uint64_t max2(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    const uint64_t low = (a & 0xffff) > (b & 0xffff) ? a & 0xffff : b & 0xffff;
    const uint64_t high = (a >> 16) > (b >> 16) ? a >> 16 : b >> 16;
    return high << 16 | low | 0 * (c + bits);
}

WANT(sub_plus, a - b + c)
WANT(add_sat, (uint64_t)clamp(ptx_sign(a, 32) + ptx_sign(b, 32), INT32_MIN, INT32_MAX))

static uint64_t min_of_three(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    const int64_t x = ptx_sign(a, 32), y = ptx_sign(b, 32), z = ptx_sign(c, 32), less = x < y ? x : y;
    return (uint64_t)(less < z ? less : z) + 0 * bits;
}

static uint64_t less4(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    uint64_t d = 0 * (c + bits);
    for (unsigned i = 0; i < 4; i++)
        d |= (uint64_t)(byte_of(a, i, true) < byte_of(b, i, true)) << 8 * i;
    return d;
}

static uint64_t equal4_count(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    for (unsigned i = 0; i < 4; i++)
        c += byte_of(a, i, false) == byte_of(b, i, false);
    return c + 0 * bits;
}

WANT(not_less2, (uint64_t)(a >> 16 >= b >> 16) << 16 | ((a & 0xffff) >= (b & 0xffff)))

static uint64_t differs_or_c(uint64_t a, uint64_t b, uint64_t c, unsigned bits)
{
    const uint64_t differs = (uint32_t)a != (uint32_t)b;
    return (differs > c ? differs : c) + 0 * bits;
}

PTX_TEST(exec_other, video_instructions_work_on_parts_of_a_register, ints,
         { "vabsdiff4.u32.u32.u32.add %d, %a, %b, %c;", absdiff4_sum, 0, 32, 32, 32, 32 },
         { "vabsdiff4.s32.s32.s32.add %d, %a, %b, %c;", absdiff4_sum, 1, 32, 32, 32, 32 },
         { "vabsdiff4.u32.u32.u32 %d, %a, %b, %c;", absdiff4, 32, 32, 32, 32, 32 },
         { "vadd4.s32.s32.s32.sat %d, %a, %b, %c;", add4_sat, 32, 32, 32, 32, 32 },
         { "vmax2.u32.u32.u32 %d, %a, %b, %c;", max2, 32, 32, 32, 32, 32 },
         { "vsub.s32.s32.s32.add %d, %a, %b, %c;", sub_plus, 32, 32, 32, 32, 32 },
         { "vadd.s32.s32.s32.sat %d, %a, %b;", add_sat, 32, 32, 32, 32, 0 },
         { "vmin.s32.s32.s32.min %d, %a, %b, %c;", min_of_three, 32, 32, 32, 32, 32 },
         { "vset4.s32.s32.lt %d, %a, %b, %c;", less4, 32, 32, 32, 32, 32 },
         { "vset4.u32.u32.eq.add %d, %a, %b, %c;", equal4_count, 32, 32, 32, 32, 32 },
         { "vset2.u32.u32.ge %d, %a, %b, %c;", not_less2, 32, 32, 32, 32, 32 },
         { "vset.u32.u32.ne.max %d, %a, %b, %c;", differs_or_c, 32, 32, 32, 32, 32 })

// --- whole modules ---

#define BEGIN                                                                                                          \
    ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n.reg .pred %p<4>;\n.reg .b32 %r<12>;\n.reg .f32 %f<8>;\n"  \
    ".reg .b64 %d<10>;\nld.param.u64 %d0, [out];\nld.param.u64 %d1, [in];\nmov.u32 %r0, %tid.x;\n"                     \
    "mad.wide.u32 %d2, %r0, 4, %d0;\n"
#define END "ret;\n}\n"

enum { WORDS = 32 };

static void expect(const char *text, int sm, const uint32_t want[WORDS])
{
    struct dev *d[PTX_DEVICES];
    const size_t devices = ptx_devices_from(d, sm, false);
    for (size_t k = 0; k < devices; k++) {
        uint32_t out[WORDS] = { 0 }, in[WORDS];
        for (uint32_t i = 0; i < WORDS; i++)
            in[i] = 1000 + i;
        cr_expect(ptx_run(d[k], text, (struct ptx_shape){ 1, 32, 0 }, out, WORDS, in, WORDS), "%s: %s",
                  dev_about(d[k])->name, dev_error(d[k]));
        for (uint32_t i = 0; i < WORDS; i++)
            cr_assert_eq(out[i], want[i], "%s: word %u is %u, not %u", dev_about(d[k])->name, i, out[i], want[i]);
        dev_close(d[k]);
    }
}

#define SM_80 ".version 7.8\n.target sm_80\n.address_size 64\n"

Test(exec_other, movmatrix_transposes_what_the_lanes_hold)
{
    uint32_t want[WORDS];
    for (uint32_t i = 0; i < WORDS; i++)  // element (row, column) is 8 row + column
        want[i] = (8 * (2 * (i % 4)) + i / 4) | (8 * (2 * (i % 4) + 1) + i / 4) << 16;
    expect(SM_80 BEGIN "shl.b32 %r1, %r0, 1;\nadd.u32 %r2, %r1, 1;\nshl.b32 %r2, %r2, 16;\nor.b32 %r1, %r1, %r2;\n"
                       "movmatrix.sync.aligned.m8n8.trans.b16 %r3, %r1;\nst.global.b32 [%d2], %r3;\n" END,
           80, want);
}

Test(exec_other, what_triton_writes_runs)
{
    uint32_t want[WORDS];
    for (uint32_t i = 0; i < WORDS; i++)
        want[i] = 2 * (1000 + i) + 1;
    expect(SM_80 BEGIN "mad.wide.u32 %d3, %r0, 4, %d1;\nmov.u64 %d4, 0x0;\n"
                       "createpolicy.fractional.L2::evict_last.b64 %d4, 1.0;\n"
                       "ld.global.L1::evict_last.L2::cache_hint.b32 { %r1 }, [ %d3 + 0 ], %d4;\n"
                       "st.global.b32 [ %d2 + 0 ], { %r1 };\n"
                       "red.global.add.L2::cache_hint.u32 [%d2], %r1, %d4;\natom.global.add.L2::cache_hint.u32 %r2, "
                       "[%d2], 1, %d4;\n" END,
           80, want);
}

Test(exec_other, hints_about_caches_and_grids_change_nothing)
{
    uint32_t want[WORDS];
    for (uint32_t i = 0; i < WORDS; i++)
        want[i] = 1000 + i;
    expect(PTX_SM_90 BEGIN "griddepcontrol.wait;\nmad.wide.u32 %d3, %r0, 4, %d1;\nldu.global.u32 %r1, [%d3];\n"
                           "st.global.u32 [%d2], %r1;\napplypriority.global.L2::evict_normal [%d1], 128;\n"
                           "griddepcontrol.launch_dependents;\npmevent 3;\n" END,
           90, want);
}

Test(exec_other, a_copy_may_begin_at_a_variable_or_a_step_back)
{
    uint32_t want[WORDS];
    for (uint32_t i = 0; i < WORDS; i++)
        want[i] = i ? i == 1 ? 8 : 1001 : 7;
    expect(SM_80 ".global .align 16 .b32 table[4] = {7, 8, 9, 10};\n" BEGIN
                 ".shared .align 16 .b8 s[32];\nadd.u64 %d3, %d1, 64;\n"
                 "cp.async.ca.shared.global [s], [table], 8;\ncp.async.ca.shared.global [s+8], [%d3+-60], 4;\n"
                 "cp.async.wait_all;\nbar.sync 0;\nmin.u32 %r1, %r0, 2;\nshl.b32 %r1, %r1, 2;\nmov.u32 %r2, s;\n"
                 "add.u32 %r1, %r1, %r2;\nld.shared.u32 %r3, [%r1];\nst.global.u32 [%d2], %r3;\n" END,
           80, want);
}

Test(exec_other, an_address_belongs_to_one_space)
{
    uint32_t want[WORDS];
    for (uint32_t i = 0; i < WORDS; i++)
        want[i] = 0x21;  // the constant is one, and no global one; the array the other way round
    expect(SM_80 ".const .align 4 .b32 c = 5;\n" BEGIN
                 "mov.u64 %d3, c;\ncvta.const.u64 %d3, %d3;\nisspacep.const %p0, %d3;\nisspacep.global %p1, %d3;\n"
                 "isspacep.const %p2, %d1;\nisspacep.global %p3, %d1;\nselp.u32 %r1, 1, 0, %p0;\n"
                 "selp.u32 %r2, 2, 0, %p1;\nselp.u32 %r3, 16, 0, %p2;\nselp.u32 %r4, 32, 0, %p3;\n"
                 "or.b32 %r1, %r1, %r2;\nor.b32 %r3, %r3, %r4;\nor.b32 %r1, %r1, %r3;\nst.global.u32 [%d2], %r1;\n" END,
           80, want);
}

Test(exec_other, atomics_on_vectors_change_each_element)
{
    uint32_t want[WORDS] = { 0 };
    for (uint32_t i = 0; i < 2; i++)
        want[i] = (uint32_t)ptx_of_float(32.0f * (float)(i + 1));
    for (uint32_t i = 4; i < 8; i++)
        want[i] = (uint32_t)ptx_of_float(32.0f * (float)(i - 3));
    expect(".version 8.1\n.target sm_90\n.address_size 64\n" BEGIN
           "mov.f32 %f0, 0f3F800000;\nmov.f32 %f1, 0f40000000;\nmov.f32 %f2, 0f40400000;\nmov.f32 %f3, 0f40800000;\n"
           "atom.global.add.v2.f32 {%f4, %f5}, [%d0], {%f0, %f1};\n"
           "red.global.add.v4.f32 [%d0+16], {%f0, %f1, %f2, %f3};\n" END,
           90, want);
}

// --- vector registers, and those of 128 bits, which are vectors of two halves ---

#define SM_90 ".version 8.4\n.target sm_90\n.address_size 64\n"

Test(exec_other, a_vector_register_is_its_elements)
{
    uint32_t want[WORDS];
    for (uint32_t i = 0; i < WORDS; i++)
        want[i] = (((i + 1) * 100 + i) * 100 + i + 3) * 100 + i + 2 + (i + 3);
    expect(SM_80 BEGIN
           ".reg .v4 .u32 %v<2>;\n.reg .v2 .b64 %w;\n.shared .align 16 .b8 s[512];\n"
           "mov.u32 %v0.x, %r0;\nadd.u32 %v0.y, %v0.x, 1;\nadd.u32 %v0.b, %v0.r, 2;\nadd.u32 %v0.w, %v0.x, 3;\n"
           "mov.v4.u32 %v0, {%v0.y, %v0.x, %v0.w, %v0.z};\nmov.v4.u32 %v1, %v0;\n"
           "mov.u32 %r2, s;\nmad.lo.u32 %r2, %r0, 16, %r2;\nst.shared.v4.u32 [%r2], %v1;\n"
           "ld.shared.v2.b64 %w, [%r2];\ncvt.u32.u64 %r3, %w.y;\nmad.lo.u32 %r1, %v1.x, 100, %v1.y;\n"
           "mad.lo.u32 %r1, %r1, 100, %v1.z;\nmad.lo.u32 %r1, %r1, 100, %v1.w;\nadd.u32 %r1, %r1, %r3;\n"
           "st.global.u32 [%d2], %r1;\n" END,
           80, want);
}

// Thread 0: halves change places; an exchange returns what was there; of two compare-and-swaps the second finds it.
#define WIDE(space, place)                                                                                             \
    ".reg .b128 %q<4>;\nmov.b64 %d3, 3;\nmov.b64 %d4, 4;\nmov.b64 %d5, 5;\nmov.b128 %q0, {%d3, %d4};\n"                \
    "mov.b128 {%d6, %d7}, %q0;\nmov.b128 %q1, {%d7, %d6};\nmov.b128 %q2, {%d5, %d5};\n"                                \
    "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra END;\n"                                                                        \
    "st." space ".b128 [" place "], %q0;\natom." space ".exch.b128 %q3, [" place "], %q1;\n"                           \
    "st.global.b128 [%d0], %q3;\natom." space ".cas.b128 %q3, [" place "], %q0, %q2;\n"                                \
    "st.global.b128 [%d0+16], %q3;\natom.acq_rel.gpu." space ".cas.b128 %q3, [" place "], %q1, %q2;\n"                 \
    "st.global.b128 [%d0+32], %q3;\nld." space ".b128 %q3, [" place "];\nst.global.b128 [%d0+48], %q3;\nEND:\n"

Test(exec_other, registers_of_128_bits_move_and_are_exchanged)
{
    static const uint32_t words[] = { 3, 0, 4, 0, 4, 0, 3, 0, 4, 0, 3, 0, 5, 0, 5, 0 };
    uint32_t want[WORDS] = { 0 };
    memcpy(want, words, sizeof words);
    expect(SM_90 BEGIN ".shared .align 16 .b8 s[16];\n" WIDE("shared", "s") END, 90, want);
    want[24] = want[26] = 5;
    expect(SM_90 BEGIN "add.u64 %d8, %d0, 96;\n" WIDE("global", "%d8") END, 90, want);
}
