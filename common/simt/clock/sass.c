// Decodes machine instructions. Which bits mean what was found by comparing listings of nvdisasm 11.8 with their words;
// tests/clock/test_clock.c and test_clock_hopper.c keep some of them.
#include "sass.h"

#include <stdio.h>

struct known {
    const char *name;
    uint8_t pipe, effect;
};

#define CODES 512

static const struct known table[CODES] = {
#define SASS(name, code, pipe, effect) [code] = { #name, PIPE_##pipe, EFFECT_##effect },
#include "sass.def"
#undef SASS
};

const char *sass_name(const struct sass *s)
{
    static _Thread_local char number[8];
    if (table[s->code].name)
        return table[s->code].name;
    snprintf(number, sizeof number, "0x%03x", s->code);
    return number;
}

bool sass_c_is_far(const struct sass *s)
{
    return s->form == 2 || s->form == 3 || s->form == 7;
}

// Operands of arithmetic: form 1 has registers, 4, 5 and 6 have b as an immediate, a constant or a uniform register; 2,
// 3 and 7 the same for c, and b is then where c else is.
static void place_operands(struct sass *s)
{
    static const uint8_t places[8] = { PLACE_REGISTER,  PLACE_REGISTER, PLACE_IMMEDIATE, PLACE_CONSTANT,
                                       PLACE_IMMEDIATE, PLACE_CONSTANT, PLACE_UNIFORM,   PLACE_UNIFORM };
    const bool c_is_far = sass_c_is_far(s);
    s->b = (uint8_t)sass_bits(s, c_is_far ? 64 : 32, 8);
    s->c = (uint8_t)sass_bits(s, c_is_far ? 32 : 64, 8);
    s->b_place = c_is_far ? PLACE_REGISTER : places[s->form];
    s->c_place = c_is_far ? places[s->form] : PLACE_REGISTER;
}

// Bit 63 negates what is read from the field at bit 32, unless that is an immediate; bit 75 what is read from bit 64.
bool sass_negates_b(const struct sass *s)
{
    return sass_c_is_far(s) ? sass_bits(s, 75, 1) : s->b_place != PLACE_IMMEDIATE && sass_bits(s, 63, 1);
}

bool sass_negates_c(const struct sass *s)
{
    return sass_c_is_far(s) ? s->c_place != PLACE_IMMEDIATE && sass_bits(s, 63, 1) : sass_bits(s, 75, 1);
}

static bool in_register_file(const struct sass *s)
{
    return !s->uniform && s->effect != EFFECT_ELECT &&
           (s->pipe <= PIPE_ALU || s->pipe == PIPE_FP64 || s->pipe == PIPE_TENSOR || s->pipe == PIPE_XU ||
            s->pipe == PIPE_UNKNOWN);
}

static void add_source(struct sass *s, uint8_t reg, uint8_t slot)
{
    if (reg == SASS_RZ)
        return;
    s->sources[s->source] = reg;
    s->slots[s->source++] = slot;
}

// The registers that are read through the banks of the register file. The third place of instructions with two operands
// holds RZ.
static void find_sources(struct sass *s)
{
    if (!in_register_file(s))
        return;
    add_source(s, s->a, 0);
    if (s->b_place == PLACE_REGISTER)
        add_source(s, s->b, 1);
    if (s->c_place == PLACE_REGISTER)
        add_source(s, s->c, 2);
}

static bool sets_predicate(const struct sass *s)
{
    return s->effect == EFFECT_SETP_NONE || s->effect == EFFECT_FCHK || s->effect == EFFECT_FSETP ||
           s->effect == EFFECT_ISETP || s->effect == EFFECT_PLOP3 || s->effect == EFFECT_R2P ||
           s->effect == EFFECT_ELECT;
}

static int64_t sign_extend(uint64_t value, unsigned bits)
{
    return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

static void find_offset(struct sass *s, int cc)
{
    const uint64_t high = s->lo >> 34 | (s->hi & 0x3ffff) << 30;
    switch (s->effect) {
    case EFFECT_BRANCH:
    case EFFECT_CALL:
    case EFFECT_RETURN:
    case EFFECT_BRANCH_REGISTER:
        s->offset = cc >= 90 ? sign_extend(high << 8 | sass_bits(s, 16, 8), 56) * 4 : sign_extend(high, 48) * 4;
        break;
    case EFFECT_BSSY:
        s->offset = sign_extend(s->lo >> 32, 32);
        break;
    default:
        s->offset = sign_extend(s->lo >> 40, 24);
    }
}

static void find_width(struct sass *s)
{
    static const uint8_t widths[8] = { 1, 1, 2, 2, 4, 8, 16, 16 };
    s->bytes = widths[sass_bits(s, 73, 3)];
    if (s->effect == EFFECT_LOAD_MATRIX || s->effect == EFFECT_STORE_MATRIX)
        s->bytes = (uint8_t)(4 << sass_bits(s, 72, 2));  // of the registers, as many as matrices
    if (s->effect == EFFECT_COPY)
        s->bytes = widths[sass_bits(s, 73, 3)];
    const unsigned type = sass_bits(s, 73, 3);
    if (sass_is_atomic(s))
        s->bytes = (sass_is_float_atomic(s) ? type == 7 : type == 2 || type == 3) ? 8 : 4;
}

void sass_decode(uint64_t lo, uint64_t hi, int cc, struct sass *out)
{
    *out = (struct sass){ .lo = lo, .hi = hi, .code = (uint16_t)(lo & 0x1ff), .form = (uint8_t)(lo >> 9 & 7) };
    const struct known *k = &table[out->code];
    out->pipe = k->name ? k->pipe : PIPE_UNKNOWN;
    out->effect = k->name ? k->effect : EFFECT_UNKNOWN;
    if (out->effect == EFFECT_MBARRIER_ARRIVE && out->form == 2)
        out->effect = EFFECT_MBARRIER_WAIT;
    out->uniform = out->pipe == PIPE_UNIFORM || out->code == CODE_LDCU;
    out->guard = (uint8_t)(lo >> 12 & 7);
    out->guard_not = lo >> 15 & 1;
    out->d = (uint8_t)(lo >> 16);
    out->a = (uint8_t)(lo >> 24);
    place_operands(out);
    const uint32_t control = (uint32_t)(hi >> 41);
    out->stall = control & 15;
    out->yield = control >> 4 & 1;
    out->writes = control >> 5 & 7;
    out->reads = control >> 8 & 7;
    out->waits = control >> 11 & 63;
    out->reuse = control >> 17 & 15;
    find_width(out);
    find_offset(out, cc);
    find_sources(out);
    out->fixed =
        out->pipe <= PIPE_ALU && out->writes == SASS_NO_SCOREBOARD && out->d != SASS_RZ && !sets_predicate(out);
}
