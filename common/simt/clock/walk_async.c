// What the instructions of barriers in shared memory, of the tensor memory accelerator and of warpgroups name: which
// barrier, how many arrivals and bytes, which box. Source of the fields: listings of nvdisasm 11.8, which knows them
// where it is given the code alone.
#include "walk_compute.h"

#include <string.h>

// The value of uniform register r, or of general register r in the lowest lane of the mask.
static uint32_t uniform_value(const struct walk_warp *w, unsigned r, bool *known)
{
    const int n = walk_register(w, true, r);
    if (n < 0)
        return 0;
    *known &= w->known[n] & 1;
    return w->values[(unsigned)n * WALK_LANES];
}

static uint32_t lane_value(const struct walk_warp *w, unsigned r, uint32_t mask, bool *known)
{
    const unsigned lane = (unsigned)__builtin_ctz(mask);
    if (r == SASS_RZ)
        return 0;
    *known &= w->known[r] >> lane & 1;
    return w->values[r * WALK_LANES + lane];
}

// The register in bits 32 to 39, whatever the form.
static unsigned second(const struct sass *s)
{
    return sass_bits(s, 32, 8);
}

// [Ra + URb + offset]
static uint32_t barrier_address(const struct walk_warp *w, const struct sass *s, uint32_t mask, bool *known)
{
    return lane_value(w, s->a, mask, known) + uniform_value(w, sass_bits(s, 64, 6), known) + (uint32_t)s->offset;
}

// The bytes of a new barrier hold its arrivals in a form of their own: its upper half is twice (2^20 - arrivals).
static void init(const struct walk_warp *w, const struct sass *s, struct walk_async *a)
{
    a->at = uniform_value(w, s->a & 63, &a->known) + (uint32_t)s->offset;
    const uint32_t low = uniform_value(w, second(s) & 63, &a->known);
    a->arrivals = (0x100000 - (low >> 1)) & 0xfffff;
}

// Who arrives with what: bits 84 to 86.
enum { ONE_AND_BYTES, ONE, BYTES_ALONE = 3, BYTES_COME, SOME };

static void arrive(const struct walk_warp *w, const struct sass *s, uint32_t mask, struct walk_async *a)
{
    const unsigned how = sass_bits(s, 84, 3), lanes = (unsigned)__builtin_popcount(mask);
    const uint32_t value = how == ONE ? 0 : lane_value(w, second(s), mask, &a->known);
    a->at = barrier_address(w, s, mask, &a->known);
    a->arrivals = how == ONE || how == ONE_AND_BYTES ? lanes : how == SOME ? value * lanes : 0;
    a->bytes = how == ONE_AND_BYTES || how == BYTES_ALONE ? value * lanes : 0;
    a->come = how == BYTES_COME ? value * lanes : 0;
}

// The time decides whether the phase has ended; here it always has. Bit 70: the phase is named by its parity.
static void wait(struct walk_warp *w, const struct sass *s, uint32_t mask, struct walk_async *a)
{
    struct compute k = { .w = w, .s = s, .mask = mask };
    bool known = sass_bits(s, 70, 1);
    const uint32_t phase = lane_value(w, second(s), mask, &known);
    a->at = barrier_address(w, s, mask, &a->known);
    a->parity = phase >> 31;
    a->known &= known;
    walk_predicate_out(&k, 81, ALL, ALL);
}

// Where the parameters lie in memory, for those whose address is taken: tensor maps.
static const unsigned char *parameter(const struct walk_warp *w, uint64_t address)
{
    const uint64_t at = address - WALK_PARAMETERS;
    return at + 128 <= w->launch->cubin->param_bytes ? w->launch->params + at : NULL;
}

// The box's place in shared memory, the barrier (of a load), and the coordinates stand in a row of uniform registers.
static void copy(const struct walk_warp *w, const struct sass *s, bool load, struct walk_async *a)
{
    unsigned r = second(s) & 63;
    const uint64_t low = uniform_value(w, s->a & 63, &a->known);
    const uint64_t map = low | (uint64_t)uniform_value(w, (s->a + 1u) & 63, &a->known) << 32;
    a->map = parameter(w, map);
    a->known &= a->map != NULL;
    a->at = uniform_value(w, r++, &a->known);
    if (load)
        a->barrier = uniform_value(w, r++, &a->known);
    const unsigned dimensions = sass_bits(s, 79, 3) + 1;
    for (unsigned i = 0; i < dimensions && i < 5; i++)
        a->from[i] = (int32_t)uniform_value(w, r + i, &(bool){ true });
}

// Bytes in a row: the side in shared memory is that with bit 73 (a load) in b, else in a.
static void bulk(const struct walk_warp *w, const struct sass *s, struct walk_async *a)
{
    const bool load = sass_bits(s, 73, 1);
    const unsigned near = (load ? second(s) : s->a) & 63, far = (load ? s->a : second(s)) & 63;
    a->load = load;
    a->at = uniform_value(w, near, &a->known);
    a->barrier = load ? uniform_value(w, near + 1, &a->known) : 0;
    a->global = uniform_value(w, far, &a->known);
    a->global |= (uint64_t)uniform_value(w, far + 1, &a->known) << 32;
    a->bytes = (uniform_value(w, sass_bits(s, 64, 6), &a->known) & 0xffff) * 16;
}

void walk_async(struct walk_warp *w, const struct sass *s, struct walk_event *e)
{
    struct walk_async *a = &e->async;
    *a = (struct walk_async){ .known = true };
    switch (s->effect) {
    case EFFECT_MBARRIER_INIT:
        init(w, s, a);
        break;
    case EFFECT_MBARRIER_ARRIVE:
        arrive(w, s, e->mask, a);
        if (s->d != SASS_RZ)
            walk_forget(w, s->d, 2, e->mask);
        break;
    case EFFECT_MBARRIER_WAIT:
        wait(w, s, e->mask, a);
        break;
    case EFFECT_TMA_LOAD:
    case EFFECT_TMA_STORE:
        a->load = s->effect == EFFECT_TMA_LOAD;
        copy(w, s, a->load, a);
        break;
    case EFFECT_BULK:
        bulk(w, s, a);
        break;
    case EFFECT_WGMMA:
        walk_forget(w, s->d, sass_wgmma_columns(s) / 2, e->mask);
        break;
    default:
        break;
    }
}

// Barriers of warps: number and threads are immediates (form 5), or one of them is in register b (2, 4), or both (1).
void walk_barrier(const struct walk_warp *w, const struct sass *s, struct walk_event *e)
{
    bool known = e->mask != 0;
    const uint32_t b = known && s->form != 5 ? lane_value(w, second(s), e->mask, &known) : 0;
    const uint32_t number = sass_bits(s, 54, 4), threads = sass_bits(s, 42, 12);
    e->barrier = s->form == 1 || s->form == 2 ? b & 15 : number;
    e->threads = s->form == 1 ? b >> 16 : s->form == 4 ? b : threads;
    if (!known)
        e->barrier = e->threads = 0;
}

// One lane of those that take part.
void walk_elect(struct compute *k)
{
    walk_predicate_out(k, 81, k->mask & -k->mask, ALL);
}

// setmaxnreg has registers at once.
void walk_registers(struct compute *k)
{
    struct sass s = *k->s;
    struct compute u = { .w = k->w, .s = &s, .mask = ALL };
    s.uniform = true;
    walk_predicate_out(&u, 81, ALL, ALL);
}
