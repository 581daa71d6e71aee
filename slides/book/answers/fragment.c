// The fragment map's answers, compiled to WebAssembly with the simulator's own fragment.c and fragment_list.c.
#include "simt/simt.h"

#include <stddef.h>

// An instruction: what it multiplies, and in what it sums.
struct map_choice {
    const char *type, *sum;
    uint32_t m, n, k, wmma;
} map_choice;

struct map_place {
    uint8_t row, col;
};

struct map_answer {
    uint32_t rows, cols, pack, bytes;                // pack: elements of a register; bytes: of an element
    uint32_t regs, distinct;                         // of the instruction; those that hold something of their own
    uint32_t ways[2], trans[2];                      // can ldmatrix fill it from rows, from columns; only with .trans?
    struct map_place element[FRAGMENT_REGS][32][4];  // register, lane, place in the register
    struct map_place strip[2][FRAGMENT_REGS][8];     // by rows, by columns; register, row of its matrix
    uint8_t strip_lane[FRAGMENT_REGS][8];            // who names its address
} map_answer;

static const struct fragment_shape *shape;
static const struct fragment_type *factor, *sum;

// Finds instruction i: false if there are not so many.
static bool find(uint32_t i)
{
    for (unsigned s = 0; (shape = fragment_shape(s)); s++)
        for (unsigned a = 0; (factor = fragment_type(a)); a++)
            for (unsigned c = 0; (sum = fragment_type(c)); c++)
                if (fragment_fits(factor, shape) && fragment_fits(sum, shape) && fragment_sums(factor, sum) && !i--)
                    return true;
    return false;
}

// Fills map_choice with instruction i, counted from 0. False after the last.
bool map_choose(uint32_t i)
{
    if (!find(i))
        return false;
    map_choice = (struct map_choice){ factor->name, sum->name, shape->m, shape->n, shape->k, shape->wmma };
    return true;
}

// Fills map_answer with an operand of instruction i. False if there is none.
bool map_show(uint32_t i, enum fragment_role role)
{
    struct map_answer *m = &map_answer;
    struct fragment f;
    unsigned row, col;
    if (!find(i) || !fragment_named(role, shape, role == FRAGMENT_C ? sum : factor, &f))
        return false;
    *m = (struct map_answer){
        .rows = f.rows, .cols = f.cols, .pack = f.pack, .bytes = f.bytes, .regs = f.n, .distinct = f.distinct
    };
    for (unsigned r = 0; r < f.distinct; r++) {
        for (unsigned at = 0; at < 32u * f.pack; at++) {
            fragment_at(&f, r, at / f.pack, at % f.pack, &row, &col);
            m->element[r][at / f.pack][at % f.pack] = (struct map_place){ (uint8_t)row, (uint8_t)col };
        }
    }
    for (int by_columns = 0; by_columns < 2; by_columns++) {
        bool trans;
        m->ways[by_columns] = fragment_ldmatrix(role, &f, by_columns, &trans);
        m->trans[by_columns] = trans;
        for (unsigned at = 0; at < 8u * f.distinct; at++) {
            fragment_strip(&f, at / 8, at % 8, by_columns, &row, &col);
            m->strip[by_columns][at / 8][at % 8] = (struct map_place){ (uint8_t)row, (uint8_t)col };
            m->strip_lane[at / 8][at % 8] = (uint8_t)fragment_strip_lane(at / 8, at % 8);
        }
    }
    return true;
}
