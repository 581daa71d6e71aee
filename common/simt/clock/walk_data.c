// What loads of global memory bring: what the launch's arrays hold at its begin. What the kernel stores there is not
// looked at, so a load that waits for another thread's store, a strong one, stays unknown.
#include "walk.h"

#include <string.h>

#define WIDTH 73  // of the access: 8 and 16 bits without and with a sign, 32, 64, 128
#define STRENGTH 77
#define STRENGTH_BITS 4
#define WEAK 0
#define CONSTANT 4

static const unsigned char *find(const struct walk_launch *l, uint64_t address, unsigned bytes)
{
    for (size_t i = 0; i < l->n_arrays; i++) {
        const struct simt_array *a = &l->arrays[i];
        if (address >= a->address && address + bytes <= a->address + a->bytes)
            return a->data + (address - a->address);
    }
    return NULL;
}

static uint32_t extend(uint32_t value, const struct sass *s)
{
    const bool has_sign = sass_bits(s, WIDTH, 1);
    const unsigned above = 32 - 8u * s->bytes;
    return s->bytes >= 4 ? value : has_sign ? (uint32_t)((int32_t)(value << above) >> above) : value;
}

bool walk_data(struct walk_warp *w, const struct walk_event *e)
{
    const struct sass *s = e->s;
    const struct walk_launch *l = w->launch;
    const unsigned strength = sass_bits(s, STRENGTH, STRENGTH_BITS), registers = (s->bytes + 3u) / 4;
    const unsigned each = s->bytes < 4 ? s->bytes : 4;
    const unsigned char *data[WALK_LANES];
    if (!l->n_arrays || s->effect != EFFECT_LOAD || s->pipe != PIPE_GLOBAL || !e->has_address ||
        (strength != WEAK && strength != CONSTANT) || s->d + registers > SASS_RZ)
        return false;
    for (unsigned i = 0; i < WALK_LANES; i++)
        if (e->mask >> i & 1 && !(data[i] = find(l, e->address[i], s->bytes)))
            return false;
    for (unsigned r = 0; r < registers; r++) {
        for (unsigned i = 0; i < WALK_LANES; i++) {
            uint32_t value = 0;
            if (!(e->mask >> i & 1))
                continue;
            memcpy(&value, data[i] + 4 * r, each);
            w->values[(s->d + r) * WALK_LANES + i] = extend(value, s);
        }
        w->known[s->d + r] |= e->mask;
    }
    return true;
}
