// L2 and DRAM, as far as they serve this SM. A sector that L1 lacks passes L2 at the SM's share of its bandwidth; what
// is stored goes the other way, by another path. What L2 lacks comes from DRAM, whose channels stand for the SM's share
// of all channels: each has a queue, and the address says which one, as if at random. So a memory that is half busy
// answers later than an idle one. L2 is full from the start, of what was stored before: what comes in drives something
// out, at random, and what was stored and not written to DRAM yet is written then.
#include "sm_parts.h"

#include <math.h>

#define LINE_SECTORS 4
#define PIECE 64  // bytes that DRAM moves at a time
#define ROW 16    // pieces side by side, which lie in different channels

// Half of what DRAM holds is behind the far half of L2. The latency is the mean of near and far; a load of many sectors
// waits for the slowest, which is all but surely far.
static double slowest_of(const struct sm *sm, unsigned sectors)
{
    return sm->k->far_latency * (1 - 1.0 / (1ull << ((sectors < 32 ? sectors : 32) - 1)));
}

static uint64_t scatter(uint64_t x)
{
    x = (x + 1) * 0x9e3779b97f4a7c15ull;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9ull;
    return x >> 40;
}

// DRAM moves `bytes` to or from a piece, asked at `at`: when it begins. A channel that has read needs time before it
// writes, and the other way round.
static double pass_channel(struct sm *sm, uint64_t piece, double bytes, bool writes, double at)
{
    struct sm_channel *c = &sm->channels[(scatter(piece / ROW) + piece) % (unsigned)sm->k->dram_channels];
    const double begin = c->free > at ? c->free : at, turn = c->writes != writes ? sm->k->dram_turn : 0;
    const double all = (bytes + turn) / sm->k->dram_rate;
    c->free = begin + all * sm->k->dram_channels;
    c->writes = writes;
    sm_busy(sm, COUNT_DRAM, bytes + turn, begin, all);
    return begin;
}

// As many bytes come into L2. What they drive out is written some pieces at a time, to one channel.
// Returns when DRAM begins with that.
static double drive_out(struct sm *sm, uint64_t where, double bytes, double at)
{
    const double room = (double)sm->job->l2_share;
    const double gone = bytes * (sm->unwritten < room ? sm->k->l2_drive * sm->unwritten / room : 1);
    sm->unwritten -= gone;
    sm->driven_out += gone;
    if (sm->driven_out < PIECE * sm->k->dram_writes)
        return at;
    const double all = sm->driven_out;
    sm->driven_out = 0;
    return pass_channel(sm, ~where, all, true, at);
}

// What has been asked for and is not there yet: when it will be; else 0.
static double due_at(const struct sm_due *all, uint64_t number)
{
    const struct sm_due *d = &all[scatter(number) % DUE];
    return d->number == number + 1 ? d->at : 0;
}

static void note_due(struct sm_due *all, uint64_t number, double at)
{
    all[scatter(number) % DUE] = (struct sm_due){ number + 1, at };
}

// DRAM gives 64 bytes at a time (useful bytes a second halve with each stride up to 64 bytes, and hardly beyond:
// dram_read_stride_16, _32), so that the sector beside it comes, too. The blocks that share the sector come for it at
// about the same time (sm_pace.c): DRAM is asked once, when the first one came. n: sectors of the load.
static double fetch_from_dram(struct sm *sm, uint64_t sector, unsigned n, double at, float sharers)
{
    l1_has(sm->far, (sector ^ 1) * 32, true);
    drive_out(sm, sector / 2, PIECE / sharers, at);
    const double begins = pass_channel(sm, sector / 2, PIECE / sharers, false, at);
    const double from_dram = fmax(begins, sm->l2) - sm->first_before + sm->k->dram_latency + slowest_of(sm, n);
    const double there = fmax(from_dram, sm->l2 + sm->k->l2_latency);
    note_due(sm->far_due, sector / 2, there);
    return there;
}

// A load of what another one has asked for waits for that, in L1 and in L2, and for nothing else.
double sm_fetch(struct sm *sm, const uint64_t *sectors, unsigned n, double at, float sharers, double rate, bool keep)
{
    const struct sm_constants *k = sm->k;
    double arrives = at + k->l1_latency;
    uint64_t last = UINT64_MAX;
    for (unsigned i = 0; i < n; i++) {
        if (keep && l1_has(sm->l1, sectors[i] * 32, true)) {
            arrives = fmax(arrives, due_at(sm->due, sectors[i]));
            continue;
        }
        // L2 gives 64 bytes in a turn, of one piece: a sector alone takes as long as two side by side.
        const double whole = last == sectors[i] / 2 ? 0 : PIECE / rate;
        const double cost = sm_follows(sm->job, RULE_l2_pieces) ? whole : PIECE / 2.0 / rate;
        last = sectors[i] / 2;
        sm->l2 = (sm->l2 > at ? sm->l2 : at) + cost;
        sm_busy(sm, COUNT_L2, cost * k->l2_rate, sm->l2 - cost, cost);  // as a share of what L2 gives
        const double there = l1_has(sm->far, sectors[i] * 32, true)
                                 ? fmax(sm->l2 + k->l2_latency, due_at(sm->far_due, sectors[i] / 2))
                                 : fetch_from_dram(sm, sectors[i], n, at, sharers);
        if (keep)
            note_due(sm->due, sectors[i], there);
        arrives = fmax(arrives, there);
    }
    return arrives;
}

// How many bytes of the sector were stored that had not been stored before. Parts of a sector that are never stored are
// not looked for: other blocks, on other SMs, fill up what this one has begun, as a transposition does.
static unsigned new_bytes(struct sm *sm, uint64_t sector, uint32_t stored)
{
    struct sm_part *p = &sm->parts[scatter(sector) % PARTS];
    if (stored == UINT32_MAX)
        return l1_has(sm->written, sector * 32, true) ? 0 : 32;
    if (p->sector != sector + 1)
        *p = (struct sm_part){ sector + 1, l1_has(sm->written, sector * 32, true) ? UINT32_MAX : 0 };
    const unsigned bytes = (unsigned)__builtin_popcount(stored & ~p->stored);
    p->stored |= stored;
    return bytes;
}

// The lines of the last stores wait for their turn at L2. What is stored to one of them meanwhile goes with it: of two
// stores of 16 bytes by each lane, side by side, L2 gets half as many sectors as L1
// (lts__t_sectors_srcunit_tex_op_write). Returns whether the sector waits there already; *line: whether its line does.
static bool joins(struct sm *sm, uint64_t sector, double at, bool *line)
{
    const uint64_t number = sector / LINE_SECTORS;
    const uint8_t which = (uint8_t)(1u << sector % LINE_SECTORS);
    for (struct sm_open *o = sm->open; o < sm->open + OPEN_LINES; o++)
        if (o->line == number + 1 && at < o->sent) {
            *line = true;
            o->there |= which;
            return o->before & which;
        }
    *line = false;
    sm->open[sm->opened++ % OPEN_LINES] = (struct sm_open){ .line = number + 1, .there = which, .sent = NEVER };
    return false;
}

// The lines that this store has opened are sent once L2 has taken it.
static void close_lines(struct sm *sm, double at)
{
    for (struct sm_open *o = sm->open; o < sm->open + OPEN_LINES; o++) {
        o->before = o->there;
        o->sent = o->sent < NEVER ? o->sent : fmax(sm->l2_in, at + sm->k->store_wait);
    }
}

double sm_write(struct sm *sm, const struct sm_sectors *s, double at)
{
    const struct sm_constants *k = sm->k;
    double begins = at;
    unsigned partial = 0, whole = 0, lines = s->joins ? 0 : s->lines;
    for (unsigned i = 0; i < s->n; i++) {
        const unsigned bytes = new_bytes(sm, s->at[i], s->stored[i]);
        const bool part = s->stored[i] != UINT32_MAX;
        bool line = true;
        if (!s->joins || !joins(sm, s->at[i], at, &line))
            *(part ? &partial : &whole) += 1;
        lines += !line;
        if (bytes && !l1_has(sm->far, s->at[i] * 32, true))
            begins = fmax(begins, drive_out(sm, s->at[i], bytes, at));
        sm->unwritten += bytes;
    }
    const double cost = lines * k->store_line + whole * k->store_sector + partial * k->store_part + s->more;
    sm->l2_in = (sm->l2_in > at ? sm->l2_in : at) + cost;
    close_lines(sm, at);
    if (begins - k->write_ahead > sm->l2_in)  // L2 has no room for more before DRAM has taken some of it
        sm->l2_in = begins - k->write_ahead;
    return sm->l2_in;
}
