// Directed roundings without the processor's (code/alu_rounded.h), against the processor's: as WebAssembly has them.
#define ROUND_WITHOUT_PROCESSOR
#include "simt/code/alu_rounded.h"

#include "simt/code/alu_math.h"

#include <criterion/criterion.h>

// Zeros by their sign, too.
static bool is_same(f64 a, f64 b)
{
    return (a != a && b != b) || (a == b && !__builtin_signbit(a) == !__builtin_signbit(b));
}

enum { TIMES = 20000 };
static const int modes[] = { FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD };

static u64 next_random(void)
{
    static u64 state = 1;
    u64 z = state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

// Zeros, the smallest and the largest, few digits and many; often of one size with the others, or its half digit.
static f64 telling(bool is_long)
{
    static const f64 some[] = { 0,         1,         3,
                                0x1p-149,  0x1p-126,  0x1.fffffep127,
                                0x1p-1074, 0x1p-1022, 0x1.fffffffffffffp1023 };
    const u64 r = next_random(), how = r % 8;
    const f64 digits = how & 1 ? (f64)(r >> 11) : (f64)(r >> 40), sign = r >> 8 & 1 ? -1 : 1;
    const int range = is_long ? 2100 : 280, near = (int)(r >> 20 & 63) - 32;
    if (how == 0)
        return sign * some[(r >> 4) % (is_long ? 9 : 6)];
    return sign * ldexp(digits, how < 5 ? near - 30 : (int)((r >> 12) % (u64)range) - range / 2 - 40);
}

#define SAME(name, T, A, e)                                                                                            \
    static void try_##name(void)                                                                                       \
    {                                                                                                                  \
        for (int i = 0; i < TIMES; i++) {                                                                              \
            const bool is_long = sizeof(A) == 8 && (T)0.1 != 0.1f;                                                     \
            const volatile A x = (A)telling(is_long), y = (A)telling(is_long), z = (A)telling(is_long);                \
            for (int m = 0; m < 3; m++) {                                                                              \
                fesetround(modes[m]);                                                                                  \
                const volatile T want = (T)(e);                                                                        \
                fesetround(FE_TONEAREST);                                                                              \
                const T got = name(modes[m], x, y, z), expected = want;                                                \
                cr_assert(is_same(got, expected), #name ", mode %d, of %a, %a, %a: %a, not %a", m, (f64)x, (f64)y,     \
                          (f64)z, (f64)got, (f64)expected);                                                            \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    Test(rounded, name##_is_the_processors)                                                                            \
    {                                                                                                                  \
        try_##name();                                                                                                  \
    }

SAME(add32, f32, f32, x + y)
SAME(sub32, f32, f32, x - y)
SAME(mul32, f32, f32, x *y)
SAME(fma32, f32, f32, __builtin_fmaf(x, y, z))
SAME(div32, f32, f32, x / y)
SAME(rcp32, f32, f32, 1.0f / x)
SAME(sqrt32, f32, f32, __builtin_sqrtf(x))
SAME(mul32_long, f64, f32, (f64)x *y)
SAME(fma32_long, f64, f32, __builtin_fma(x, y, z))
SAME(div32_long, f64, f32, (f64)x / y)
SAME(rcp32_long, f64, f32, 1.0 / x)
SAME(add64, f64, f64, x + y)
SAME(sub64, f64, f64, x - y)
SAME(mul64, f64, f64, x *y)
SAME(fma64, f64, f64, __builtin_fma(x, y, z))
SAME(div64, f64, f64, x / y)
SAME(rcp64, f64, f64, 1.0 / x)
SAME(sqrt64, f64, f64, __builtin_sqrt(x))
SAME(f32_of_f64, f32, f64, x)

Test(rounded, integers_are_rounded_as_the_processor_does)
{
    for (int i = 0; i < TIMES; i++) {
        const volatile s64 x = (s64)(next_random() >> i % 64);
        for (int m = 0; m < 3; m++) {
            fesetround(modes[m]);
            const volatile f32 want32 = (f32)x;
            const volatile f64 want64 = (f64)x;
            fesetround(FE_TONEAREST);
            cr_assert_eq(f32_of_s64(modes[m], x, 0, 0), want32);
            cr_assert_eq(f64_of_s64(modes[m], x, 0, 0), want64);
        }
    }
    cr_assert_eq(f32_of_u64(FE_TOWARDZERO, UINT64_MAX, 0, 0), 0x1.fffffep63f);
    cr_assert_eq(f64_of_u64(FE_UPWARD, UINT64_MAX, 0, 0), 0x1p64);
    cr_assert(!__builtin_signbit(f32_of_u64(FE_DOWNWARD, 0, 0, 0)));
}

// This program is compiled without the processor's instruction, if it has one.
Test(rounded, a_fused_sum_needs_no_instruction)
{
    for (int i = 0; i < 50 * TIMES; i++) {
        const f32 a = (f32)telling(false), b = (f32)telling(false), c = (f32)telling(false);
        const f32 got = fused32(a, b, c), want = __builtin_fmaf(a, b, c);
        cr_assert(is_same(got, want), "%a * %a + %a: %a, not %a", (f64)a, (f64)b, (f64)c, (f64)got, (f64)want);
    }
}
