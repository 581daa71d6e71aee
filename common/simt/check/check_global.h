// What the checks remember of global memory: shared by check_global.c, which notes it, and check_blocks.c, which judges
// it when the launch is over.
#pragma once

#include "check_state.h"

#define LINE_SHIFT 3
#define LINE (1u << LINE_SHIFT)  // granules of a line
#define PAGE_SHIFT 7
#define PAGE (1u << PAGE_SHIFT)  // lines of a page

// Strong accesses apart from weak ones. Early: a read of what was not initialised, and the block had not written.
enum use { USE_READ, USE_WRITE, USE_STRONG_READ, USE_STRONG_WRITE, USE_EARLY, USES };

#define MARK_STRONG 1
#define MARK_NARROW 2  // its scope does not reach beyond the block
#define MARK_ATOMIC 4
#define MARK_POLLS 8   // a loop looks at the place again and again
#define ONE_THREAD 31  // a spread: all of it is one thread's

struct mark {        // an access
    uint32_t block;  // from 1; 0: none
    uint32_t at, inst;
    uint16_t thread;  // of a line's first granule; granule i is thread + (i >> spread)'s
    uint8_t spread, flags;
};

struct record {  // how a granule, or all granules of a line alike, were used
    struct mark first, last;
    struct mark other;      // of reads: by another thread than last; of strong writes: the last that was no atomic
    uint32_t redundant_in;  // of reads: while this is the block's interval, more of them are redundant
    uint32_t polled;        // of strong reads: when a loop looked at it last
    bool narrow;            // some access was narrow
    bool sets;              // some strong write did not use what was there
};

struct stores {               // what they left
    uint8_t differ, unknown;  // by granule: different values were stored; what was stored last is not at hand
    uint32_t values[LINE];    // what was stored last, by granule
};

struct line {                  // as long as a line of the host's cache
    bool split;                // records are by granule, LINE of each use
    struct stores *stores[2];  // weak ones, strong ones; NULL: there were none
    struct record *of[USES];
};

struct page {
    uint32_t redundant_in[PAGE];  // by line, the same for all its granules
    struct line lines[PAGE];
};

// Where the page of an address is kept; NULL if memory runs out, or no allocation is there.
struct page **check_page_slot(struct checker *c, uint64_t address);
struct page *check_page(struct checker *c, uint64_t address);  // the same; made where there is none yet
struct record *check_record_new(struct checker *c, struct line *line, enum use use);
// Zeros, as long as the checker lives, from a new line of the host's cache on; NULL when memory runs out.
void *check_take(struct checker *c, size_t bytes);
void check_slabs_move(struct checker *to, struct checker *from);  // all records' memory
bool check_split(struct checker *c, struct line *line);           // false if memory runs out

static inline struct record *check_record(struct checker *c, struct line *line, enum use use)
{
    return line->of[use] ? line->of[use] : check_record_new(c, line, use);
}

// The record of granule i.
static inline struct record *check_record_at(const struct line *line, enum use use, uint32_t i)
{
    return line->of[use] ? &line->of[use][line->split ? i : 0] : NULL;
}

// The weak stores, or the strong ones, of which use tells.
static inline struct stores **check_line_stores(struct line *line, enum use use)
{
    return &line->stores[use == USE_STRONG_WRITE];
}

static inline uint32_t check_thread(const struct mark *m, uint32_t i)
{
    return m->thread + (i >> m->spread);
}

// A finding at granule i of a line, by the access that a mark is of; and its other side.
struct fault check_side(const struct checker *c, const struct mark *m, uint32_t i, enum use use, uint64_t address,
                        enum fault_kind kind);
void check_other_side(struct fault *f, const struct mark *m, uint32_t i, enum use use);
