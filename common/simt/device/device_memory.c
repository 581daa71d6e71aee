// Device memory as the host uses it, and the settings: simt/simt.h.
#include <inttypes.h>
#include <string.h>

#include "simt/machine/tensor_map.h"
#include "simt/report/report.h"
#include "state.h"

struct simt_limits simt_limits(const struct simt *s)
{
    return (struct simt_limits){
        .memory = s->memory_limit, .shared_per_block = SHARED_MAX, .max_threads = THREADS_MAX, .isa = s->exec->isa
    };
}

void simt_set_jobs(struct simt *s, unsigned jobs)
{
    s->jobs = jobs < SIMT_JOBS_MAX ? jobs : SIMT_JOBS_MAX;
}

void simt_set_budget(struct simt *s, uint64_t warp_instructions)
{
    s->budget = warp_instructions ? warp_instructions : SIMT_BUDGET;
}

void simt_set_output(struct simt *s, FILE *out)
{
    s->out = out;
}

void simt_set_tensor_cores(struct simt *s, unsigned sm)
{
    s->sm = sm < 90 ? 80 : 90;
}

void simt_set_progress(struct simt *s, dev_progress *show)
{
    s->progress = show;
}

void simt_set_checks(struct simt *s, bool on)
{
    s->checks = on;
}

// On a card that has just started memory is 0, and programs are known to rely on it. More bytes than these come from
// the host's system, which gives them so.
enum { FRESH = 1 << 20 };

typedef uint64_t allocate(struct memory *m, const char *name, uint64_t bytes);

static bool alloc_by(allocate *how, struct simt *s, const char *name, size_t bytes, uint64_t *address,
                     char error[DEV_ERROR_MAX])
{
    const uint64_t left = s->memory_limit > s->memory.used ? s->memory_limit - s->memory.used : 0;
    *address = bytes && bytes <= left ? how(&s->memory, name, bytes) : 0;
    if (!*address && bytes && bytes <= left)
        return error_set(error, "%s needs %zu bytes, which this computer does not give the simulated GPU", name, bytes);
    if (!*address)
        return error_set(error, "%s needs %zu bytes, and the simulated GPU has %" PRIu64 " left", name, bytes, left);
    if (s->checks)  // what is never written is the same in every run
        memset(memory_at(&s->memory, *address, bytes), DEV_UNWRITTEN, bytes);
    else if (bytes < FRESH)
        memset(memory_at(&s->memory, *address, bytes), 0, bytes);
    return true;
}

bool simt_alloc(struct simt *s, const char *name, size_t bytes, uint64_t *address, char error[DEV_ERROR_MAX])
{
    return alloc_by(memory_alloc, s, name, bytes, address, error);
}

bool simt_keep_low(struct simt *s)
{
    return memory_keep_low(&s->memory);
}

bool simt_alloc_low(struct simt *s, const char *name, size_t bytes, uint64_t *address, char error[DEV_ERROR_MAX])
{
    return alloc_by(memory_alloc_low, s, name, bytes, address, error);
}

bool simt_free(struct simt *s, uint64_t address, char error[DEV_ERROR_MAX])
{
    return memory_release(&s->memory, address) ||
           error_set(error, "0x%" PRIx64 " is not the start of an allocation, or has been freed already", address);
}

bool simt_lend(struct simt *s, uint64_t address, void *data)
{
    const bool begins = !(address & MEMORY_OFFSET) && memory_at(&s->memory, address, 1);
    if (begins)
        memory_lend(&s->memory, address, data);
    return begins;
}

bool simt_resize(struct simt *s, uint64_t address, size_t bytes, char error[DEV_ERROR_MAX])
{
    const uint64_t old = memory_bytes(&s->memory, address), left = s->memory_limit - (s->memory.used - old);
    if (bytes > left)
        return error_set(error, "%zu bytes are asked for, and the simulated GPU has %" PRIu64 " left", bytes, left);
    if (!memory_resize(&s->memory, address, bytes))
        return error_set(error, "this computer does not give the simulated GPU %zu bytes", bytes);
    if (s->checks && bytes > old)
        memset(memory_at(&s->memory, address, bytes) + old, DEV_UNWRITTEN, bytes - old);
    return true;
}

static unsigned char *host_view(struct simt *s, uint64_t at, size_t bytes, const char *what, char error[DEV_ERROR_MAX])
{
    char place[200];
    struct simt_object object;
    unsigned char *view = memory_at(&s->memory, at, bytes);
    if (view) {
        memory_settle(&s->memory);
        return view;
    }
    report_memory(&object, &s->memory, at);
    simt_object_text(&object, place, sizeof place);
    error_set(error, "%s of %zu bytes goes out of bounds: it starts at %s", what, bytes, place);
    return NULL;
}

bool simt_write(struct simt *s, uint64_t to, const void *from, size_t bytes, char error[DEV_ERROR_MAX])
{
    unsigned char *at = host_view(s, to, bytes, "an upload", error);
    if (at) {
        memcpy(at, from, bytes);
        memory_write(&s->memory, to, bytes);
        memory_settle(&s->memory);
    }
    return at;
}

bool simt_read(struct simt *s, void *to, uint64_t from, size_t bytes, char error[DEV_ERROR_MAX])
{
    const unsigned char *at = host_view(s, from, bytes, "a download", error);
    if (at)
        memcpy(to, at, bytes);
    return at;
}

bool simt_clear(struct simt *s, uint64_t at, size_t bytes, char error[DEV_ERROR_MAX])
{
    unsigned char *view = host_view(s, at, bytes, "a clear", error);
    if (view) {
        memset(view, 0, bytes);
        memory_write(&s->memory, at, bytes);
        memory_settle(&s->memory);
    }
    return view;
}

bool simt_tensor_map(const struct dev_tensor *tensor, struct dev_tensor_map *map, char error[DEV_ERROR_MAX])
{
    struct dev_tensor t = *tensor;
    const bool ok = tensor_settle(&t, error);
    if (ok)
        tensor_map_make(&t, map);
    return ok;
}

struct simt_saved *simt_save(const struct simt *s)
{
    return (struct simt_saved *)memory_save(&s->memory);
}

void simt_restore(struct simt *s, const struct simt_saved *saved)
{
    memory_settle(&s->memory);
    memory_restore(&s->memory, (const struct memory_copy *)saved);
}

void simt_saved_free(struct simt_saved *saved)
{
    memory_copy_free((struct memory_copy *)saved);
}
