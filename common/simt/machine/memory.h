// Device memory of the simulated GPU: allocations with names, and the address map.
//
// A device pointer holds an allocation's number in its high bits and the byte offset in its low 36 bits, so an access
// that leaves its allocation in either direction never lands in another one. Two numbers stand for the generic windows
// of shared and local memory.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEMORY_SHIFT 36
#define MEMORY_OFFSET (((uint64_t)1 << MEMORY_SHIFT) - 1)
#define MEMORY_MAX ((uint64_t)1 << MEMORY_SHIFT)  // bytes an allocation may have
#define MEMORY_LOW 2048                           // an address of a number below it has 47 bits, as those of a process
#define WINDOW_SHARED ((uint64_t)0x7000001 << MEMORY_SHIFT)
#define WINDOW_LOCAL ((uint64_t)0x7000002 << MEMORY_SHIFT)
#define WINDOW_CODE ((uint64_t)0x7000003 << MEMORY_SHIFT)  // of functions, which no access reaches

// The address of a module's function number i.
static inline uint64_t memory_of_function(uint64_t i)
{
    return WINDOW_CODE + 16 * (i + 1);
}

// What a launch wrote that may still run beside the one in hand: see memory_begin_launch.
enum pending {
    SETTLED,
    PENDING_LAST,  // the launch before wrote it
    PENDING_OLDER  // one before that, and the launch before has not waited for it
};

struct allocation {
    unsigned char *data;     // NULL once freed
    unsigned char *written;  // a bit for each byte: the host or a kernel wrote it; NULL: see whole
    uint64_t bytes;
    char *name;
    bool whole;     // all of it was written
    bool constant;  // a __constant__ variable
    bool lent;      // data is somebody else's: memory_lend
    bool fresh;     // the last launch wrote here, as far as checks know
    enum pending pending;
};

struct memory {
    struct allocation *all;  // by number; number 0 is never used
    uint32_t count, capacity;
    uint32_t low;   // the next number for memory_alloc_low; 0: there are none
    uint64_t used;  // bytes in live allocations
    // So that a launch costs the same however many there are: those before whole_to are whole, and only those from
    // open_from to before open_to may be fresh or pending.
    uint32_t whole_to, open_from, open_to;
};

// Allocates bytes (> 0); 0 when memory runs out.
uint64_t memory_alloc(struct memory *m, const char *name, uint64_t bytes);
// Keeps the low numbers for memory_alloc_low, before anything is allocated. A number whose allocation is freed is given
// again when all others have been. 0 also if none is free. Without memory_keep_low it is the same as memory_alloc.
bool memory_keep_low(struct memory *m);
uint64_t memory_alloc_low(struct memory *m, const char *name, uint64_t bytes);
// The live allocation that begins at address lies in data from now on, which stays the caller's, who may write there at
// any time: all of it counts as written. What it held is lost.
void memory_lend(struct memory *m, uint64_t address, unsigned char *data);
// Gives the live allocation that begins at address, which must not be lent, a new size in bytes: what is added at its
// end counts as unwritten. False when memory runs out.
bool memory_resize(struct memory *m, uint64_t address, uint64_t bytes);
bool memory_release(struct memory *m, uint64_t address);  // false unless address begins a live allocation
void memory_destroy(struct memory *m);

// The host's view of bytes at address, or NULL if they are not all inside one live allocation.
static inline unsigned char *memory_at(const struct memory *m, uint64_t address, uint64_t bytes)
{
    uint64_t number = address >> MEMORY_SHIFT, offset = address & MEMORY_OFFSET;
    if (number >= m->count || !m->all[number].data || bytes > m->all[number].bytes ||
        offset > m->all[number].bytes - bytes)
        return NULL;
    return m->all[number].data + offset;
}

// Of the live allocation that address is in.
static inline uint64_t memory_bytes(const struct memory *m, uint64_t address)
{
    return m->all[address >> MEMORY_SHIFT].bytes;
}

// Does address, which lies in an allocation, belong to a __constant__ variable?
static inline bool memory_is_constant(const struct memory *m, uint64_t address)
{
    const uint64_t number = address >> MEMORY_SHIFT;
    return number < m->count && m->all[number].constant;
}

// Notes that bytes at address, which lie inside one allocation, have been written; or all there is, by anyone.
void memory_write(struct memory *m, uint64_t address, uint64_t bytes);
void memory_write_all(struct memory *m);
bool memory_written_bytes(const struct memory *m, uint64_t address, uint64_t bytes);

static inline bool memory_written(const struct memory *m, uint64_t address, uint64_t bytes)  // all of them?
{
    return m->all[address >> MEMORY_SHIFT].whole || memory_written_bytes(m, address, bytes);
}

// The content of all live allocations, and what of it was written, as m has it now; and back again, for those that are
// still there. The next allocation then has the same address again, if all that were made since have been freed. NULL
// when memory runs out.
struct memory_copy;
struct memory_copy *memory_save(const struct memory *m);
void memory_restore(struct memory *m, const struct memory_copy *copy);
void memory_copy_free(struct memory_copy *copy);  // NULL is allowed

// A launch begins. early: the one before may still run; and those before that one, unless it has waited for them. All
// is settled as soon as the host has waited for all launches.
void memory_begin_launch(struct memory *m, bool early, bool waited);
void memory_settle(struct memory *m);

static inline enum pending memory_pending(const struct memory *m, uint64_t address)
{
    const uint64_t number = address >> MEMORY_SHIFT;
    return number < m->count ? m->all[number].pending : SETTLED;
}

// The allocation that an address is in, or comes shortly before or after, also one that was freed; NULL: there is none.
// *at: the byte, from the allocation's first on; negative before it.
const struct allocation *memory_near(const struct memory *m, uint64_t address, int64_t *at);
