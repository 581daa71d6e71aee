// Machine code as ptxas wrote it, 128 bits an instruction (sm_75 and later): what an instruction is, which registers it
// names, and what the scheduler is told about it.
//
// The second word's bits 41-44 say for how many cycles the warp stalls afterwards, 45 whether another warp is
// preferred, 46-48 which scoreboard the result releases (7: none), 49-51 which one is released once the operands have
// been read, 52-57 which scoreboards it waits for, 58-61 which operands stay in the reuse cache.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sass_pipe {
    PIPE_FMA,        // f32 multiply-adds
    PIPE_IMAD,       // integer ones, in half of the same lanes
    PIPE_IMAD_WIDE,  // with 64-bit results
    PIPE_HALF,       // two halves at once
    PIPE_ALU,
    PIPE_UNIFORM,
    PIPE_XU,
    PIPE_FP64,
    PIPE_TENSOR,
    PIPE_SHARED,  // the memory pipe, by what the access goes to
    PIPE_GLOBAL,
    PIPE_LOCAL,
    PIPE_COPY,  // from global to shared memory
    PIPE_LDC,   // constants by address
    PIPE_SHUFFLE,
    PIPE_ASYNC,   // barriers in shared memory, and copies of the tensor memory accelerator
    PIPE_SYSTEM,  // special registers
    PIPE_BARRIER,
    PIPE_CONTROL,
    PIPE_WGMMA,    // products of a warpgroup
    PIPE_UNKNOWN,  // not in sass.def: timed as PIPE_ALU, or by its scoreboard if it has one
    PIPES
};

enum sass_effect {
    EFFECT_NONE,     // the results are unknown
    EFFECT_NOTHING,  // there are no results
    EFFECT_SETP_NONE,
    EFFECT_CONSTANT,
    EFFECT_IMAD,
    EFFECT_IMAD_WIDE,
    EFFECT_IMAD_HI,
    EFFECT_MOV,
    EFFECT_MOV_A,
    EFFECT_P2R,
    EFFECT_R2P,
    EFFECT_CS2R,
    EFFECT_VOTE,
    EFFECT_SEL,
    EFFECT_FADD,  // from here to EFFECT_FCHK: f32
    EFFECT_FMUL,
    EFFECT_FFMA,
    EFFECT_FMNMX,
    EFFECT_MUFU,
    EFFECT_FCHK,
    EFFECT_FSETP,
    EFFECT_DSETP,
    EFFECT_ISETP,
    EFFECT_IADD,
    EFFECT_IADD3,
    EFFECT_IADD64,
    EFFECT_VIADD,
    EFFECT_LEA,
    EFFECT_LOP3,
    EFFECT_IABS,
    EFFECT_PRMT,
    EFFECT_IMNMX,
    EFFECT_VIADDMNMX,
    EFFECT_SHF,
    EFFECT_SGXT,
    EFFECT_BMSK,
    EFFECT_PLOP3,
    EFFECT_I2FP,
    EFFECT_I2F,
    EFFECT_F2I,
    EFFECT_FLO,
    EFFECT_BREV,
    EFFECT_POPC,
    EFFECT_LDC,
    EFFECT_S2R,
    EFFECT_SHFL,
    EFFECT_LOAD,
    EFFECT_STORE,
    EFFECT_ATOMIC,
    EFFECT_LOAD_LOCAL,
    EFFECT_STORE_LOCAL,
    EFFECT_LOAD_MATRIX,
    EFFECT_STORE_MATRIX,
    EFFECT_COPY,
    EFFECT_COPY_GROUP,
    EFFECT_MBARRIER_INIT,
    EFFECT_MBARRIER_ARRIVE,  // or EFFECT_MBARRIER_WAIT, by the form
    EFFECT_MBARRIER_WAIT,
    EFFECT_TMA_LOAD,
    EFFECT_TMA_STORE,
    EFFECT_BULK,
    EFFECT_BULK_GROUP,
    EFFECT_WGMMA,
    EFFECT_WARPGROUP,
    EFFECT_ELECT,
    EFFECT_REGISTERS,
    EFFECT_DEPBAR,
    EFFECT_BARRIER,
    EFFECT_BSSY,
    EFFECT_BSYNC,
    EFFECT_WARPSYNC,
    EFFECT_BREAK,
    EFFECT_BRANCH,
    EFFECT_BRANCH_REGISTER,
    EFFECT_CALL,
    EFFECT_RETURN,
    EFFECT_EXIT,
    EFFECT_UNKNOWN
};

#define SASS_OLDEST 75  // compute capabilities whose machine code is known
#define SASS_NEWEST 120
#define SASS_BYTES 16
#define SASS_RZ 255
#define SASS_NO_SCOREBOARD 7

// Where the operand b or c of an arithmetic instruction is.
enum sass_place { PLACE_REGISTER, PLACE_UNIFORM, PLACE_IMMEDIATE, PLACE_CONSTANT };

// The instructions of sass.def by name.
enum sass_code {
#define SASS(name, code, pipe, effect) CODE_##name = code,
#include "sass.def"
#undef SASS
};

struct sass {
    uint64_t lo, hi;
    uint16_t code;   // bits 0-8: enum sass_code, if it is known
    uint8_t form;    // bits 9-11: where b and c are
    uint8_t pipe;    // enum sass_pipe
    uint8_t effect;  // enum sass_effect
    bool uniform;    // registers, and the guard, are those of the uniform data path
    uint8_t guard;   // predicate; 7: always
    bool guard_not;
    bool fixed;          // writes register d after a fixed latency
    uint8_t d, a, b, c;  // registers; b and c are exchanged as the form says, see sass_decode
    uint8_t b_place, c_place;
    uint8_t stall, yield, writes, reads, waits, reuse;  // writes, reads: scoreboards, 7 none; waits: a mask
    uint8_t bytes;                                      // a lane, of a memory access
    uint8_t source;  // general registers that the instruction reads through the two banks: how many of sources
    uint8_t sources[3], slots[3];  // they, and their place in the reuse mask
    int64_t offset;  // of a branch: from the next instruction, in bytes; of an access: added to the address
    uint32_t line;   // of the source; 0: unknown
};

// Decodes the instruction lo, hi for a card of compute capability cc (90).
void sass_decode(uint64_t lo, uint64_t hi, int cc, struct sass *out);
const char *sass_name(const struct sass *s);  // "FFMA"; "0x1b4" where it is not known

static inline uint32_t sass_bits(const struct sass *s, unsigned from, unsigned n)
{
    const uint64_t w = from >= 64       ? s->hi >> (from - 64)
                       : from + n <= 64 ? s->lo >> from
                                        : s->lo >> from | s->hi << (64 - from);
    return (uint32_t)(w & ((1ull << n) - 1));
}

// Adds to memory, or does something else to it, and may say what was there; of floats.
// Whether c is in the field at bit 32, where b else is, and b in that at bit 64.
bool sass_c_is_far(const struct sass *s);

// Whether an integer operand is negated.
bool sass_negates_b(const struct sass *s);
bool sass_negates_c(const struct sass *s);

static inline bool sass_is_atomic(const struct sass *s)
{
    return s->effect == EFFECT_ATOMIC || s->code == CODE_RED || s->code == CODE_RED_FLOAT;
}

static inline bool sass_is_float_atomic(const struct sass *s)
{
    return s->code == CODE_ATOMG_FLOAT || s->code == CODE_RED_FLOAT;
}

// Of a product of a warpgroup: its columns; whether it is the last one of its group; whether A comes from registers.
static inline unsigned sass_wgmma_columns(const struct sass *s)
{
    return (sass_bits(s, 53, 5) + 1) * 8;
}

static inline bool sass_wgmma_ends_group(const struct sass *s)
{
    return sass_bits(s, 84, 3) != 7;
}

static inline bool sass_wgmma_a_in_registers(const struct sass *s)
{
    return s->form == 6;
}
