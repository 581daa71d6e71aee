// What the tensor cores add up, for mma.sync and wgmma. Compiled for each instruction set (isa.h).
//
// What the hardware computes, found by Fasi et al. (2021) and Xie et al. (arXiv 2511.10909) and confirmed bit for bit
// on an H200 (tests/truth/h200_mma.tsv): products are exact and not normalised, their exponent is the sum of their
// factors'; all terms of a sum and C are aligned to the largest exponent and cut toward zero after 25 bits behind the
// point (sm_80: 24); the sum of what is left is exact; an f32 result is cut toward zero, an f16 result rounded to
// nearest even. An H200 sums all k products at once; sm_80 in blocks of 8 (tf32: 4) products, one after the other.
// e4m3 and e5m2 keep 13 bits, of the sum as of the f32 result (MMA-Sim, arXiv 2511.10909).
//
// Nearly always the exponents are so close together that a product is exact as a float, and so is its shift: then one
// multiplication aligns it, and a conversion to a whole number cuts it. Otherwise the same is done with doubles. A
// vector is as wide as the host's registers, and holds two rows of some columns (exec_sum.h): that way a pair of A's
// numbers is one load for all of it, and the accumulators come and go with a few shuffles.
#include "exec_sum.h"

#include <string.h>

#include "simt/code/alu_math.h"
#include "sum_vector.h"

// --- accumulators: two rows, in two vectors ---

struct pair8f {
    v8f of[2];
};

struct pair8d {
    v8d of[2];
};

#define NOINLINE static __attribute__((noinline))  // what is hardly ever needed

NOINLINE struct pair8f read_halves(const u16 *p)
{
    struct pair8f c;
    for (uint32_t i = 0; i < SUM_LANES; i++)
        c.of[i / 8][i % 8] = float_of(f32_of_f16(p[i % 2 * 8 + i / 2]));
    return c;
}

ALWAYS_INLINE struct pair8f read_pair(const struct sum *s, const unsigned char *regs, const uint32_t *slot,
                                      uint32_t pair)
{
    const uint32_t group = pair / 4, row = pair % 4 * 2;
    v8f even, odd;
    if (!slot)
        return (struct pair8f){ { { 0 } } };
    if (s->half)
        return read_halves((const u16 *)(regs + slot[group]) + 8 * row);
    memcpy(&even, (const f32 *)(regs + slot[2 * group]) + 4 * row, sizeof even);
    memcpy(&odd, (const f32 *)(regs + slot[2 * group + 1]) + 4 * row, sizeof odd);
    return (struct pair8f){ { __builtin_shufflevector(even, odd, 0, 4, 8, 12, 1, 5, 9, 13),
                              __builtin_shufflevector(even, odd, 2, 6, 10, 14, 3, 7, 11, 15) } };
}

// x cut toward zero to an f32. Below the normal numbers the cut is at 2^-149.
static float cut(double x)
{
    if (__builtin_fabs(x) < 0x1p-126)
        return (float)(__builtin_trunc(x * 0x1p149) * 0x1p-149);
    return (float)keep_bits(x, ~0x1fffffffull);
}

NOINLINE v8f cut_each(v8d x)
{
    v8f result;
    for (uint32_t i = 0; i < 8; i++)
        result[i] = cut(x[i]);
    return result;
}

// bits to be lost are 0: then the conversion is exact
ALWAYS_INLINE v8f cut_normal(v8d x)
{
    return __builtin_convertvector((v8d)((v8l)x & ~0x1fffffffll), v8f);
}

ALWAYS_INLINE v8f cut8(v8d x)
{
    const v8f result = cut_normal(x);
    const v8i size = (v8i)result & 0x7fffffff;
    // Below twice the smallest normal number, where a result was rounded.
    return any8((size != 0) & (size < 0x01000000)) ? cut_each(x) : result;
}

static uint16_t half_of(double x)  // to nearest even: cut to f32, the last bit odd where something was lost
{
    union {
        float f;
        uint32_t u;
    } v = { .f = cut(x) };
    if ((double)v.f != x && __builtin_fabs(x) < 65536)
        v.u |= 1;
    return (uint16_t)f16_of_f32(v.u);
}

NOINLINE void write_halves(u16 *p, struct pair8d d)
{
    for (uint32_t i = 0; i < SUM_LANES; i++) {
        const double x = d.of[i / 8][i % 8];
        p[i % 2 * 8 + i / 2] = x != x ? 0x7fff : half_of(x);
    }
}

#define FRACTION_BITS 23  // of an f32

ALWAYS_INLINE void write_floats(const struct sum *s, unsigned char *regs, const uint32_t *slot, uint32_t pair,
                                struct pair8f d)
{
    const uint32_t group = pair / 4, row = pair % 4 * 2;
    const int32_t kept = s->fraction < FRACTION_BITS ? -(1 << (FRACTION_BITS - s->fraction)) : -1;
    const v8i x = (v8i)d.of[0] & kept, y = (v8i)d.of[1] & kept;
    const v8i even = __builtin_shufflevector(x, y, 0, 4, 8, 12, 1, 5, 9, 13);
    const v8i odd = __builtin_shufflevector(x, y, 2, 6, 10, 14, 3, 7, 11, 15);
    memcpy((u32 *)(regs + slot[2 * group]) + 4 * row, &even, sizeof even);
    memcpy((u32 *)(regs + slot[2 * group + 1]) + 4 * row, &odd, sizeof odd);
}

ALWAYS_INLINE void write_pair(const struct sum *s, unsigned char *regs, const uint32_t *slot, uint32_t pair,
                              struct pair8d d)
{
    if (s->half)
        write_halves((u16 *)(regs + slot[pair / 4]) + pair % 4 * 2 * 8, d);
    else
        write_floats(s, regs, slot, pair, (struct pair8f){ { cut8(d.of[0]), cut8(d.of[1]) } });
}

ALWAYS_INLINE v8d doubles(v8i x)
{
#ifdef __AVX512F__
    return (v8d)_mm512_cvtepi32_pd((__m256i)x);  // gcc 12 takes four instructions for it
#else
    return __builtin_convertvector(x, v8d);
#endif
}

ALWAYS_INLINE v8d power_of_two(v8i power)
{
    return (v8d)(__builtin_convertvector(power + 1023, v8l) << 52);
}

// --- the quick way, as floats: c + n products of a pair of rows ---

// Vectors of W lanes are parts of two of 8.
#if W == 16
#define ALL 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
#define PART_OF(x, part) __builtin_shufflevector(x[0], x[1], ALL)
#define PUT_PART(to, part, x)                                                                                          \
    (to[0] = __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7),                                                    \
     to[1] = __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15))
#else
#define PART_OF(x, part) x[part]
#define PUT_PART(to, part, x) (to[part] = x)
#endif

#define EIGHTS (W / 2)  // that many times 8 lanes are a vector of bytes: each 8 of another pair

// The largest exponent of n products, for all pairs: of lanes 0 to 7, and 8 to 15.
static __attribute__((noinline)) void find_tops(const struct sum *s, uint32_t n, uint8_t tops[SUM_PAIRS][SUM_LANES])
{
    for (uint32_t first = 0; first < SUM_PAIRS; first += EIGHTS) {
        vb top[2] = { { 0 } };
        for (size_t k = 0; k < n; k++) {
            vb left;
            memcpy(&left, &s->left->exponents[k][first], sizeof left);
            for (int h = 0; h < 2; h++) {
                uint64_t right;
                memcpy(&right, &s->right->exponent[k][8 * h], sizeof right);
                top[h] = max_bytes(top[h], left + (vb)((vb_eights){ 0 } + right));
            }
        }
        for (uint32_t i = 0; i < EIGHTS; i++)
            for (int h = 0; h < 2; h++)
                memcpy(&tops[first + i][8 * h], (uint8_t *)&top[h] + 8 * i, 8);
    }
}

struct terms {  // their sum, in two parts that do not overflow; and 2 to what they are aligned to
    v8i low[2], high[2], unit[2];
};

// Lanes W * part to W * part + W - 1.
ALWAYS_INLINE void add_part(const struct sum *s, uint32_t pair, uint32_t part, uint32_t n, const struct pair8f *all_c,
                            const uint8_t tops[SUM_LANES], struct terms *t)
{
    const vf c = PART_OF(all_c->of, part);
    vb_short bytes;
    memcpy(&bytes, tops + W * part, sizeof bytes);
    const vi top = __builtin_convertvector(bytes, vi), none = (vi){ 0 } + LEAST;
    const vi most = max_of(((vi)c >> 23 & 255) - 127, select_from(top > NO_PRODUCT, top - PRODUCT_BIAS, none));
    const vi power = (s->fraction + 127 - most) << 23;
    const vf scale = (vf)power;
    vi low = __builtin_convertvector(c * scale, vi), high = { 0 };
    for (size_t k = 0; k < n; k += 2) {
        uint64_t left[2];
        vf right[2];
        memcpy(left, s->left->value[pair][k], sizeof left);
        memcpy(&right[0], &s->right->value[k][W * part], sizeof *right);
        memcpy(&right[1], &s->right->value[k + 1][W * part], sizeof *right);
        low += __builtin_convertvector(right[0] * (vf)((vf_pairs){ 0 } + left[0]) * scale, vi);
        high += __builtin_convertvector(right[1] * (vf)((vf_pairs){ 0 } + left[1]) * scale, vi);
    }
    const vi unit = (254 << 23) - power;
    PUT_PART(t->low, part, low);
    PUT_PART(t->high, part, high);
    PUT_PART(t->unit, part, unit);
}

// n is constant where the function is worth one of its own.
ALWAYS_INLINE void add_quickly(const struct sum *s, uint32_t n, unsigned char *regs, const uint32_t *in,
                               const uint32_t *out)
{
    _Alignas(64) uint8_t tops[SUM_PAIRS][SUM_LANES];
    find_tops(s, n, tops);
    for (uint32_t pair = 0; pair < SUM_PAIRS; pair++) {
        const struct pair8f c = read_pair(s, regs, in, pair);
        struct terms t;
        struct pair8d d;
        struct pair8f result;
        for (uint32_t part = 0; part < SUM_LANES / W; part++)
            add_part(s, pair, part, n, &c, tops[pair], &t);
        // A unit is 2^(LEAST - fraction) or more: the result is normal, and has no bits to lose by it.
        for (int h = 0; h < 2; h++) {
            d.of[h] = doubles(t.low[h]) + doubles(t.high[h]);
            result.of[h] = cut_normal(d.of[h]) * (v8f)t.unit[h];
            d.of[h] *= __builtin_convertvector((v8f)t.unit[h], v8d);
        }
        if (s->half)
            write_halves((u16 *)(regs + out[pair / 4]) + pair % 4 * 2 * 8, d);
        else
            write_floats(s, regs, out, pair, result);
    }
}

// Can all of c be aligned as floats: is none infinite, no number, or tiny but 0?
static bool is_quick(const struct sum *s, const unsigned char *regs, const uint32_t *in)
{
    uint32_t odd = 0;
    for (uint32_t i = 0; i < (s->half ? 2 : 4); i++) {
        for (uint32_t k = 0; k < LANES; k++) {
            const uint32_t bits = ((const u32 *)(regs + in[i]))[k], size = bits & 0x7fffffff;
            if (s->half)
                odd |= (bits & 0x7c00) == 0x7c00 || (bits & 0x7c000000) == 0x7c000000;
            else
                odd |= (size - 1 < ((127 + LEAST) << 23) - 1) | (size >= 0x7f800000);
        }
    }
    return !odd;
}

// --- every other way, as doubles ---

struct exponents {
    int32_t left[SUM_PAIRS][SUM_K][2], right[SUM_K][SUM_LANES];
};

static struct pair8d add_wide(const struct sum *s, const struct exponents *x, uint32_t pair, uint32_t first,
                              struct pair8f c)
{
    struct pair8d d;
    for (int h = 0; h < 2; h++) {
        v8i most, sum[2];
        for (int i = 0; i < 8; i++) {
            const int32_t size = ((v8i)c.of[h])[i] & 0x7fffffff, of_c = size >> 23 ? size >> 23 : 1;
            most[i] = size ? of_c - 127 : LEAST_WIDE;
            for (uint32_t k = first; k < first + s->block; k++) {
                const int32_t e = x->left[pair][k][i % 2] + x->right[k][8 * h + i];
                most[i] = e > most[i] ? e : most[i];
            }
        }
        const v8d scale = power_of_two(s->fraction - most);
        sum[0] = __builtin_convertvector(__builtin_convertvector(c.of[h], v8d) * scale, v8i);
        sum[1] = (v8i){ 0 };
        for (uint32_t k = first; k < first + s->block; k++) {
            v8d product;
            for (int i = 0; i < 8; i++)
                product[i] = (double)s->left->value[pair][k][i % 2] * s->right->value[k][8 * h + i];
            sum[k % 2] += __builtin_convertvector(product * scale, v8i);
        }
        d.of[h] = (doubles(sum[0]) + doubles(sum[1])) * power_of_two(most - s->fraction);
    }
    return d;
}

// What IEEE 754 says of Inf and NaN among the terms decides, whatever the finite ones add up to. 0: there are none.
static double special_sum(const struct sum *s, uint32_t pair, uint32_t lane, float c)
{
    double special = __builtin_isfinite(c) ? 0 : (double)c;
    for (uint32_t k = 0; k < s->k; k++) {
        const double p = (double)s->left->value[pair][k][lane % 2] * s->right->value[k][lane];
        special += __builtin_isfinite(p) ? 0 : p;
    }
    return special;
}

NOINLINE void add_any(const struct sum *s, unsigned char *regs, const uint32_t *in, const uint32_t *out)
{
    struct exponents x;
    for (uint32_t pair = 0; pair < SUM_PAIRS; pair++)
        ISA(sum_exponents)(s->a, 2 * s->k, s->left->value[pair][0], x.left[pair][0]);
    ISA(sum_exponents)(s->b, SUM_LANES * s->k, s->right->value[0], x.right[0]);
    for (uint32_t pair = 0; pair < SUM_PAIRS; pair++) {
        const struct pair8f first = read_pair(s, regs, in, pair);
        struct pair8d d = add_wide(s, &x, pair, 0, first);
        for (uint32_t k = s->block; k < s->k; k += s->block)
            d = add_wide(s, &x, pair, k, (struct pair8f){ { cut8(d.of[0]), cut8(d.of[1]) } });
        uint32_t nan = 0;
        for (uint32_t i = 0; i < SUM_LANES; i++) {
            const double special = special_sum(s, pair, i, first.of[i / 8][i % 8]);
            d.of[i / 8][i % 8] = __builtin_isfinite(special) ? d.of[i / 8][i % 8] : special;
            nan |= (uint32_t)(special != special) << i;
        }
        write_pair(s, regs, out, pair, d);
        for (uint32_t i = 0; !s->half && i < SUM_LANES; i++)
            if (nan >> i & 1)
                ((u32 *)(regs + out[pair / 4 * 2 + i / 2 % 2]))[pair % 4 * 8 + i % 2 * 4 + i / 4] = 0x7fffffff;
    }
}

void ISA(sum_add)(const struct sum *s, unsigned char *regs, const uint32_t *in, const uint32_t *out)
{
    const bool odd = s->left->wide || s->right->wide || s->left->special || s->right->special || s->block != s->k;
    if (odd || (in && !is_quick(s, regs, in)))
        add_any(s, regs, in, out);
    else if (s->k == 16)  // of halves
        add_quickly(s, 16, regs, in, out);
    else
        add_quickly(s, s->k, regs, in, out);
}
