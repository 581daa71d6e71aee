// The lane-by-lane operations of alu.def, one function each, for some uops in a row. Compiled for each instruction set
// (isa.h): the compiler turns each loop over the 32 lanes into a few vector instructions.
#include "simt/code/alu_math.h"
#include "isa.h"

// Lanes do not depend on each other: a destination is the same slot as a source, or does not overlap it.
#if defined(__clang__)
#define EACH_LANE _Pragma("clang loop vectorize(assume_safety)") for (int i = 0; i < LANES; i++)
#else
#define EACH_LANE _Pragma("GCC ivdep") for (int i = 0; i < LANES; i++)
#endif

#define ONE(id) static inline __attribute__((always_inline)) void one_##id(unsigned char *regs, const struct uop *uop)
// Some uops in a row.
#define MANY(id)                                                                                                       \
    static void alu_##id(unsigned char *regs, const struct uop *uop, uint32_t many)                                    \
    {                                                                                                                  \
        for (const struct uop *end = uop + many; uop < end; uop++)                                                     \
            one_##id(regs, uop);                                                                                       \
    }

// How a lane's value of each type is stored: narrow ones are extended to 32 bits.
typedef u32 slot_u8, slot_u16, slot_u32;
typedef s32 slot_s8, slot_s16, slot_s32;
typedef u64 slot_u64;
typedef s64 slot_s64;
typedef f32 slot_f32;
typedef f64 slot_f64;

#define ALU(id, name, n, D, A, B, C, effect)                                                                           \
    ONE(id)                                                                                                            \
    {                                                                                                                  \
        slot_##D *pd = (slot_##D *)(regs + uop->d);                                                                    \
        const slot_##A *pa = (const slot_##A *)(regs + uop->a);                                                        \
        const slot_##B *pb = (const slot_##B *)(regs + uop->b);                                                        \
        const slot_##C *pc = (const slot_##C *)(regs + uop->c);                                                        \
        EACH_LANE                                                                                                      \
        {                                                                                                              \
            A a = (A)pa[i];                                                                                            \
            B b = n > 1 ? (B)pb[i] : 0;                                                                                \
            C c = n > 2 ? (C)pc[i] : 0;                                                                                \
            (void)b, (void)c;                                                                                          \
            pd[i] = (D)(effect);                                                                                       \
        }                                                                                                              \
    }                                                                                                                  \
    MANY(id)
#define SETP(id, name, T, effect)                                                                                      \
    ONE(id)                                                                                                            \
    {                                                                                                                  \
        const slot_##T *pa = (const slot_##T *)(regs + uop->a), *pb = (const slot_##T *)(regs + uop->b);               \
        u32 mask = 0;                                                                                                  \
        for (int i = 0; i < LANES; i++) {                                                                              \
            T a = (T)pa[i], b = (T)pb[i];                                                                              \
            (void)b;                                                                                                   \
            mask |= (u32)(effect) << i;                                                                                \
        }                                                                                                              \
        *(u32 *)(regs + uop->d) = mask;                                                                                \
    }                                                                                                                  \
    MANY(id)
#define LOGIC(id, name, n, effect)                                                                                     \
    ONE(id)                                                                                                            \
    {                                                                                                                  \
        u32 a = *(const u32 *)(regs + uop->a), b = n > 1 ? *(const u32 *)(regs + uop->b) : 0;                          \
        (void)b;                                                                                                       \
        *(u32 *)(regs + uop->d) = effect;                                                                              \
    }                                                                                                                  \
    MANY(id)
#define SELP(id, name, T)                                                                                              \
    ONE(id)                                                                                                            \
    {                                                                                                                  \
        slot_##T *pd = (slot_##T *)(regs + uop->d);                                                                    \
        const slot_##T *pa = (const slot_##T *)(regs + uop->a), *pb = (const slot_##T *)(regs + uop->b);               \
        const u32 p = *(const u32 *)(regs + uop->c);                                                                   \
        EACH_LANE pd[i] = p >> i & 1 ? pa[i] : pb[i];                                                                  \
    }                                                                                                                  \
    MANY(id)
#include "simt/code/alu.def"

const alu_fn ISA(alu_table)[ALU_OPS] = {
#define ALU(id, name, n, D, A, B, C, effect) alu_##id,
#define SETP(id, name, T, effect) alu_##id,
#define LOGIC(id, name, n, effect) alu_##id,
#define SELP(id, name, T) alu_##id,
#include "simt/code/alu.def"
};
