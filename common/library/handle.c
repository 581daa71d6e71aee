// A handle: it is created, destroyed, told what to use. See handle.h.
#include "handle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/card.h"
#include "device/open.h"
#include "gpu/gpu.h"

static _Thread_local char no_handle[DEV_ERROR_MAX];  // the error where there is no handle

gemm_steps_status handle_fail(gemm_steps *h, gemm_steps_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(h ? h->error : no_handle, DEV_ERROR_MAX, format, args);
    va_end(args);
    return status;
}

gemm_steps_status handle_fail_dev(gemm_steps *h, gemm_steps_status status)
{
    return handle_fail(h, status, "%s", dev_error(h->dev));
}

const char *gemm_steps_error(const gemm_steps *handle)
{
    return handle ? handle->error : no_handle;
}

gemm_steps_status handle_enter(gemm_steps *h, const char *function)
{
    if (!h)
        return handle_fail(NULL, GEMM_STEPS_BAD_ARGUMENT, "%s: the handle is NULL", function);
    return h->gpu && !gpu_enter(h->dev) ? handle_fail_dev(h, GEMM_STEPS_FAILED) : GEMM_STEPS_OK;
}

gemm_steps_status handle_leave(gemm_steps *h, gemm_steps_status status)
{
    if (h->gpu)
        gpu_leave(h->dev);
    return status;
}

// Not ok: the device failed, which has its own line.
static gemm_steps_status handle_leave_dev(gemm_steps *h, bool ok)
{
    return handle_leave(h, ok ? GEMM_STEPS_OK : handle_fail_dev(h, GEMM_STEPS_FAILED));
}

// --- Create, destroy ---

// The device, or NULL with the reason in no_handle.
static struct dev *open_device(int device, bool *gpu)
{
    struct dev *d = NULL;
    *gpu = device != GEMM_STEPS_SIMULATED;
    if (*gpu)
        d = gpu_borrow(device == GEMM_STEPS_CURRENT ? GPU_CURRENT : device == GEMM_STEPS_ANY ? 0 : device, no_handle);
    if (device == GEMM_STEPS_ANY && d && dev_about(d)->cc_major * 10 + dev_about(d)->cc_minor < PICK_OLDEST) {
        dev_close(d);
        d = NULL;
    }
    if (device == GEMM_STEPS_SIMULATED || (device == GEMM_STEPS_ANY && !d)) {
        *gpu = false;
        d = dev_open(DEV_SIM, no_handle);
    }
    return d;
}

// A handle of zeros: tensor maps are aligned further than calloc does it.
static gemm_steps *new_handle(void)
{
    gemm_steps *h = aligned_alloc(_Alignof(gemm_steps), sizeof *h);
    if (h)
        memset(h, 0, sizeof *h);
    return h;
}

gemm_steps_status gemm_steps_create(int device, gemm_steps **handle)
{
    bool gpu;
    if (!handle)
        return handle_fail(NULL, GEMM_STEPS_BAD_ARGUMENT, "gemm_steps_create: the place for the handle is NULL");
    *handle = NULL;
    if (device < GEMM_STEPS_ANY)
        return handle_fail(NULL, GEMM_STEPS_BAD_ARGUMENT, "gemm_steps_create: there is no device %d", device);
    struct dev *d = open_device(device, &gpu);
    if (!d)
        return GEMM_STEPS_NO_DEVICE;
    const struct dev_about *about = dev_about(d);
    const struct card *simulated = card_at(0);  // kernels are chosen as for this one
    const int sm = gpu ? about->cc_major * 10 + about->cc_minor : simulated->cc;
    gemm_steps *h = sm >= PICK_OLDEST ? new_handle() : NULL;
    if (!h) {
        const bool old = sm < PICK_OLDEST;
        handle_fail(NULL, GEMM_STEPS_UNSUPPORTED,
                    old ? "%s is an sm_%d; the kernels need an sm_%d or newer" : "%s: out of memory", about->name, sm,
                    PICK_OLDEST);
        dev_close(d);
        return old ? GEMM_STEPS_UNSUPPORTED : GEMM_STEPS_OUT_OF_MEMORY;
    }
    h->dev = d;
    h->gpu = gpu;
    h->card = (struct pick_card){ .sm = sm, .sms = gpu ? about->sm_count : (int)simulated->sms };
    h->limit = SIZE_MAX;
    *handle = h;
    return GEMM_STEPS_OK;
}

void gemm_steps_destroy(gemm_steps *handle)
{
    if (!handle)
        return;
    if (handle_enter(handle, __func__) == GEMM_STEPS_OK) {
        dev_sync(handle->dev);
        handle_leave(handle, GEMM_STEPS_OK);
    }
    dev_close(handle->dev);  // with all that was allocated or loaded
    free(handle);
}

// --- What it has ---

static void forget_plans(gemm_steps *h)
{
    for (int i = 0; i < PLANS; i++)
        h->plans[i].ready = false;
}

static bool drop(gemm_steps *h, struct room *room)
{
    const struct room old = *room;
    *room = (struct room){ 0 };
    if (!old.at)
        return true;
    forget_plans(h);
    return old.lent || h->captured || (dev_sync(h->dev) && dev_free(h->dev, old.at));
}

bool handle_grow(gemm_steps *h, struct room *room, const char *name, size_t bytes)
{
    if (bytes <= room->bytes)
        return true;
    if (room->lent || !drop(h, room) || !dev_alloc(h->dev, name, bytes, &room->at))
        return false;
    room->bytes = bytes;
    return true;
}

bool handle_counters(gemm_steps *h)
{
    const size_t bytes = ARGS_COUNTERS * sizeof(unsigned);
    if (h->counters.at)
        return true;
    return handle_grow(h, &h->counters, "counters", bytes) && dev_clear(h->dev, h->counters.at, bytes) &&
           dev_sync(h->dev);
}

bool handle_capturing(const gemm_steps *h)
{
    return h->gpu && gpu_capturing(h->dev);
}

struct dev_module *handle_module(gemm_steps *h, enum module_id id)
{
    const struct module_text *text = &module_texts[id];
    struct dev_module *m = h->loaded[id].module;
    if (m)
        return m;
    const bool packs = id == MODULE_pack;
    if (!packs && !geometries_parse(text->name, text->ptx, *text->bytes, &h->loaded[id].geometries, h->error))
        return NULL;
    size_t bytes = *text->bytes;
    char *other = text->words ? module_words(text, &bytes) : NULL;
    if (text->words && !other) {
        handle_fail(h, GEMM_STEPS_OUT_OF_MEMORY, "%s: out of memory", text->name);
        return NULL;
    }
    m = dev_load_text(h->dev, text->name, other ? other : text->ptx, bytes);
    free(other);
    if (!m)
        handle_fail_dev(h, GEMM_STEPS_FAILED);
    h->loaded[id].module = m;
    return m;
}

gemm_steps_status gemm_steps_set_stream(gemm_steps *handle, void *stream)
{
    gemm_steps_status s = handle_enter(handle, __func__);
    if (s != GEMM_STEPS_OK)
        return s;
    if (handle->gpu)
        gpu_set_stream(handle->dev, stream);
    return handle_leave(handle, GEMM_STEPS_OK);
}

gemm_steps_status gemm_steps_set_workspace_limit(gemm_steps *handle, size_t bytes)
{
    gemm_steps_status s = handle_enter(handle, __func__);
    if (s != GEMM_STEPS_OK)
        return s;
    handle->limit = handle->work.lent && handle->work.bytes < bytes ? handle->work.bytes : bytes;
    forget_plans(handle);  // other kernels may run now
    return handle_leave_dev(handle, handle->work.lent || handle->work.bytes <= bytes || drop(handle, &handle->work));
}

gemm_steps_status gemm_steps_set_workspace(gemm_steps *handle, gemm_steps_ptr memory, size_t bytes)
{
    enum { ALIGNMENT = 256 };
    gemm_steps_status s = handle_enter(handle, __func__);
    if (s != GEMM_STEPS_OK)
        return s;
    if (memory % ALIGNMENT || (memory && memory + bytes < memory))
        return handle_leave(handle, handle_fail(handle, GEMM_STEPS_BAD_ARGUMENT, "%s: 0x%llx is no multiple of %d",
                                                __func__, (unsigned long long)memory, ALIGNMENT));
    const bool ok = drop(handle, &handle->work);
    if (memory)
        handle->work = (struct room){ memory, bytes, true };
    forget_plans(handle);
    handle->limit = memory ? bytes : SIZE_MAX;
    return handle_leave_dev(handle, ok);
}

size_t gemm_steps_workspace(const gemm_steps *handle)
{
    return handle ? handle->work.bytes : 0;
}

const char *gemm_steps_kernel(const gemm_steps *handle)
{
    return handle ? handle->kernel : "";
}

const char *gemm_steps_device(const gemm_steps *handle)
{
    return handle ? dev_about(handle->dev)->name : "";
}

gemm_steps_status gemm_steps_wait(gemm_steps *handle)
{
    gemm_steps_status s = handle_enter(handle, __func__);
    if (s != GEMM_STEPS_OK)
        return s;
    return handle_leave_dev(handle, dev_sync(handle->dev));
}
