// What the tensor cores multiply, made ready for the sums: numbers as floats, and their exponents. Compiled for each
// instruction set (isa.h). See exec_sum.c.
#include "exec_sum.h"

#include <string.h>

#include "simt/code/alu_math.h"
#include "sum_vector.h"

struct format {
    int fraction, range, bias, sign;  // bits of the fraction; the exponent of Inf and NaN; bias; place of the sign
};

static struct format format_of(enum mma_type t)
{
    switch (t) {
    case MMA_F16:
        return (struct format){ 10, 31, 15, 15 };
    case MMA_BF16:
        return (struct format){ 7, 255, 127, 15 };
    case MMA_TF32:
        return (struct format){ 10, 255, 127, 18 };
    case MMA_E4M3:
        return (struct format){ 3, 15, 7, 7 };
    default:
        return (struct format){ 2, 31, 15, 7 };
    }
}

// Inf and NaN in place of what their bits would be as numbers.
static void put_special_numbers(enum mma_type t, uint32_t n, const int32_t *bits, float sign, float *value)
{
    const struct format f = format_of(t);
    const int32_t infinite = f.range << f.fraction;
    for (uint32_t i = 0; i < n; i++) {
        const int32_t size = bits[i] & ((1 << f.sign) - 1);
        if (t == MMA_E4M3 ? size == 0x7f : size > infinite)
            value[i] = __builtin_nanf("");
        else if (t != MMA_E4M3 && size == infinite)
            value[i] = bits[i] >> f.sign & 1 ? -sign * __builtin_inff() : sign * __builtin_inff();
    }
}

// n numbers, and zeros up to a multiple of W: values and exponents. sign: 1, or -1 to negate them. any_wide: exponents
// of some are not to be had so.
static inline void unpack(enum mma_type t, uint32_t n, const int32_t *bits, float sign, float *value, uint8_t *exponent,
                          bool *any_wide, bool *any_special)
{
    const struct format f = format_of(t);
    const int32_t special_from = t == MMA_E4M3 ? 0x7f : f.range << f.fraction;
    const float scale = sign * float_of((uint32_t)(254 - f.bias) << 23);
    vi wide = { 0 }, special = { 0 };
    for (uint32_t i = 0; i < n; i += W) {
        vi x;
        memcpy(&x, bits + i, sizeof x);
        const vi size = x & ((1 << f.sign) - 1), e = max_of(size >> f.fraction, (vi){ 0 } + 1) - f.bias + BIASED;
        const vi is_number = size != 0, is_negative = (x >> f.sign) << 31;
        const vf v = (vf)(size << (23 - f.fraction) | is_negative) * scale;  // also where it is subnormal
        const vb_short all = __builtin_convertvector(e & is_number, vb_short);
        wide |= is_number & ((e < 64) | (e > 127));
        special |= size >= special_from;
        memcpy(value + i, &v, sizeof v);
        memcpy(exponent + i, &all, sizeof all);
    }
    *any_wide = any(wide);
    *any_special = any(special);
    if (*any_special)
        put_special_numbers(t, n, bits, sign, value);
}

void ISA(sum_exponents)(enum mma_type t, uint32_t n, const float *value, int32_t *exponent)
{
    const int32_t least = 1 - format_of(t).bias;
    for (uint32_t i = 0; i < n; i++) {
        const int32_t size = (int32_t)(bits_of(value[i]) & 0x7fffffff), e = (size >> 23) - 127;
        exponent[i] = !size ? SUM_NONE : e > least ? e : least;
    }
}

static inline v8i eight(enum mma_type t, const unsigned char *p)
{
    v8i words;
    v8h halves;
    v8b bytes;
    switch (t) {
    case MMA_TF32:
        memcpy(&words, p, sizeof words);
        return words >> 13 & 0x7ffff;
    case MMA_F16:
    case MMA_BF16:
        memcpy(&halves, p, sizeof halves);
        return __builtin_convertvector(halves, v8i);
    default:
        memcpy(&bytes, p, sizeof bytes);
        return __builtin_convertvector(bytes, v8i);
    }
}

static uint32_t bytes_of(enum mma_type t)
{
    return t == MMA_TF32 ? 4 : t == MMA_F16 || t == MMA_BF16 ? 2 : 1;
}

void ISA(sum_left)(const struct sum *s, struct sum_left *left, const unsigned char rows[SUM_ROWS][SUM_BYTES],
                   bool negate)
{
    int32_t bits[SUM_PAIRS][SUM_K][2];
    left->wide = left->special = false;
    for (uint32_t p = 0; p < SUM_PAIRS; p++) {
        for (uint32_t k = 0; k < s->k; k += 8) {
            const uint32_t at = k * bytes_of(s->a);
            const v8i x = eight(s->a, rows[2 * p] + at), y = eight(s->a, rows[2 * p + 1] + at);
            const v8i low = __builtin_shufflevector(x, y, 0, 8, 1, 9, 2, 10, 3, 11);
            const v8i high = __builtin_shufflevector(x, y, 4, 12, 5, 13, 6, 14, 7, 15);
            memcpy(bits[p][k], &low, sizeof low);
            memcpy(bits[p][k + 4], &high, sizeof high);
        }
    }
    for (uint32_t p = 0; p < SUM_PAIRS; p++) {
        uint8_t exponents[SUM_K][2] = { { 0 } };
        bool wide, special;
        unpack(s->a, 2 * s->k, bits[p][0], negate ? -1 : 1, left->value[p][0], exponents[0], &wide, &special);
        for (uint32_t k = 0; k < s->k; k++) {
            uint16_t two;
            memcpy(&two, exponents[k], sizeof two);
            left->exponents[k][p] = two * 0x0001000100010001ull;
        }
        left->wide |= wide;
        left->special |= special;
    }
}

// 8 x 8 halves: rows become columns.
static inline void turn8(v8h x[8])
{
    for (int round = 0; round < 3; round++) {
        v8h y[8];
        for (int i = 0; i < 4; i++) {
            y[2 * i] = __builtin_shufflevector(x[i], x[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
            y[2 * i + 1] = __builtin_shufflevector(x[i], x[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
        }
        memcpy(x, y, sizeof y);
    }
}

static inline void put_twice(int32_t to[SUM_LANES], v8h halves)
{
    const v8h low = __builtin_shufflevector(halves, halves, 0, 0, 1, 1, 2, 2, 3, 3);
    const v8h high = __builtin_shufflevector(halves, halves, 4, 4, 5, 5, 6, 6, 7, 7);
    const v8i x = __builtin_convertvector(low, v8i), y = __builtin_convertvector(high, v8i);
    memcpy(to, &x, sizeof x);
    memcpy(to + 8, &y, sizeof y);
}

void ISA(sum_right)(const struct sum *s, struct sum_right *right, const unsigned char numbers[SUM_COLUMNS * SUM_BYTES],
                    bool turned)
{
    int32_t bits[SUM_K][SUM_LANES];
    for (uint32_t first = 0; bytes_of(s->b) == 2 && first < s->k; first += 8) {
        v8h x[8];
        for (uint32_t i = 0; i < 8; i++)
            memcpy(&x[i], numbers + (turned ? 16 * (first + i) : SUM_BYTES * i + 2 * first), sizeof x[i]);
        if (!turned)
            turn8(x);
        for (uint32_t i = 0; i < 8; i++)
            put_twice(bits[first + i], x[i]);
    }
    for (uint32_t k = 0; bytes_of(s->b) != 2 && k < s->k; k += 8) {
        for (uint32_t column = 0; column < SUM_COLUMNS; column++) {
            const v8i x = eight(s->b, numbers + SUM_BYTES * column + k * bytes_of(s->b));
            for (uint32_t i = 0; i < 8; i++)
                bits[k + i][2 * column] = bits[k + i][2 * column + 1] = x[i];
        }
    }
    unpack(s->b, SUM_LANES * s->k, bits[0], 1, right->value[0], right->exponent[0], &right->wide, &right->special);
}
