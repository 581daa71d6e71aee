// A handle: it is created, destroyed, told what to use, asked for memory. See handle.h.
#include "handle.h"

#include <stdarg.h>
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

gemm_steps_status handle_did(gemm_steps *h, bool did, gemm_steps_status failed)
{
    return did ? GEMM_STEPS_OK : handle_fail(h, failed, "%s", dev_error(h->dev));
}

const char *gemm_steps_error(const gemm_steps *handle)
{
    return handle ? handle->error : no_handle;
}

gemm_steps_status handle_enter(gemm_steps *h, const char *function, const char *wrong)
{
    if (!h || wrong)
        return handle_fail(h, GEMM_STEPS_BAD_ARGUMENT, "%s: %s", function, h ? wrong : "the handle is NULL");
    return handle_did(h, !h->gpu || gpu_enter(h->dev), GEMM_STEPS_FAILED);
}

gemm_steps_status handle_leave(gemm_steps *h, gemm_steps_status status)
{
    if (h->gpu)
        gpu_leave(h->dev);
    return status;
}

gemm_steps_status handle_leave_dev(gemm_steps *h, bool did)
{
    return handle_leave(h, handle_did(h, did, GEMM_STEPS_FAILED));
}

// --- Create, destroy ---

static int sm_of(const struct dev *d)
{
    return dev_about(d)->cc_major * 10 + dev_about(d)->cc_minor;
}

// The device, or NULL with the reason in no_handle.
static struct dev *open_device(int device)
{
    if (device != GEMM_STEPS_SIMULATED && device != GEMM_STEPS_ANY)
        return gpu_borrow(device == GEMM_STEPS_CURRENT ? GPU_CURRENT : device, no_handle);
    struct dev *d = device == GEMM_STEPS_ANY ? gpu_borrow(0, no_handle) : NULL;
    if (d && sm_of(d) >= PICK_OLDEST)
        return d;
    dev_close(d);
    return dev_open(DEV_SIM, no_handle);
}

gemm_steps_status gemm_steps_create(int device, gemm_steps **handle)
{
    if (!handle)
        return handle_fail(NULL, GEMM_STEPS_BAD_ARGUMENT, "gemm_steps_create: the place for the handle is NULL");
    *handle = NULL;
    if (device < GEMM_STEPS_ANY)
        return handle_fail(NULL, GEMM_STEPS_BAD_ARGUMENT, "gemm_steps_create: there is no device %d", device);
    struct dev *d = open_device(device);
    if (!d)
        return GEMM_STEPS_NO_DEVICE;
    const struct dev_about *about = dev_about(d);
    const struct card *simulated = card_at(0);  // kernels are chosen as for this one
    const int sm = about->simulated ? simulated->cc : sm_of(d);
    gemm_steps *h = aligned_alloc(_Alignof(gemm_steps), sizeof *h);  // further than malloc aligns: for tensor maps
    gemm_steps_status s = GEMM_STEPS_OK;
    if (sm < PICK_OLDEST)
        s = handle_fail(NULL, GEMM_STEPS_UNSUPPORTED, "%s is an sm_%d; the kernels need an sm_%d or newer", about->name,
                        sm, PICK_OLDEST);
    else if (!h)
        s = handle_fail(NULL, GEMM_STEPS_OUT_OF_MEMORY, "%s: out of memory", about->name);
    if (s != GEMM_STEPS_OK) {
        free(h);
        dev_close(d);
        return s;
    }
    memset(h, 0, sizeof *h);
    h->dev = d;
    h->gpu = !about->simulated;
    h->card = (struct pick_card){ .sm = sm,
                                  .sms = h->gpu ? about->sm_count : (int)simulated->sms,
                                  .memory = about->memory_gbs > 0 ? about->memory_gbs : simulated->dram };
    h->limit = SIZE_MAX;
    *handle = h;
    return GEMM_STEPS_OK;
}

void gemm_steps_destroy(gemm_steps *handle)
{
    if (!handle)
        return;
    gemm_steps_wait(handle);
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

struct dev_module *handle_module(gemm_steps *h, enum kernel_id id, int words)
{
    const struct kernel *k = &kernels[id];
    struct dev_module **m = &h->modules[id][words];
    if (*m)
        return *m;
    if (k->kind != KERNEL_PACK && !geometry_parse(k->file, k->ptx, strlen(k->ptx), &h->geometries[id], h->error))
        return NULL;
    char *other = words ? kernel_words(k, words) : NULL;
    const char *ptx = words ? other : k->ptx;
    if (ptx)
        handle_did(h, (*m = dev_load_text(h->dev, k->file, ptx, strlen(ptx))), GEMM_STEPS_FAILED);
    else
        handle_fail(h, GEMM_STEPS_OUT_OF_MEMORY, "%s: out of memory", k->file);
    free(other);
    return *m;
}

gemm_steps_status gemm_steps_set_stream(gemm_steps *handle, void *stream)
{
    const gemm_steps_status s = handle_enter(handle, __func__, NULL);
    if (s == GEMM_STEPS_OK && handle->gpu)
        gpu_set_stream(handle->dev, stream);
    return s == GEMM_STEPS_OK ? handle_leave(handle, s) : s;
}

gemm_steps_status gemm_steps_set_workspace_limit(gemm_steps *handle, size_t bytes)
{
    const gemm_steps_status s = handle_enter(handle, __func__, NULL);
    if (s != GEMM_STEPS_OK)
        return s;
    handle->limit = bytes;
    forget_plans(handle);  // other kernels may run now
    return handle_leave_dev(handle, handle->work.lent || handle->work.bytes <= bytes || drop(handle, &handle->work));
}

gemm_steps_status gemm_steps_set_workspace(gemm_steps *handle, gemm_steps_ptr memory, size_t bytes)
{
    const gemm_steps_status s = handle_enter(handle, __func__,
                                             memory % 256              ? "the memory begins at no multiple of 256"
                                             : memory + bytes < memory ? "the memory ends past all memory"
                                                                       : NULL);
    if (s != GEMM_STEPS_OK)
        return s;
    const bool ok = drop(handle, &handle->work);
    handle->work = (struct room){ memory, memory ? bytes : 0, memory != 0 };
    forget_plans(handle);
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
    const gemm_steps_status s = handle_enter(handle, __func__, NULL);
    return s != GEMM_STEPS_OK ? s : handle_leave_dev(handle, dev_sync(handle->dev));
}

// --- Device memory ---

gemm_steps_status gemm_steps_alloc(gemm_steps *handle, size_t bytes, gemm_steps_ptr *memory)
{
    if (memory)
        *memory = 0;
    const char *wrong = !memory ? "the place for the address is NULL" : !bytes ? "0 bytes" : NULL;
    const gemm_steps_status s = handle_enter(handle, __func__, wrong);
    if (s != GEMM_STEPS_OK)
        return s;
    const bool did = dev_alloc(handle->dev, "memory of gemm_steps_alloc", bytes, memory);
    return handle_leave(handle, handle_did(handle, did, GEMM_STEPS_OUT_OF_MEMORY));
}

gemm_steps_status gemm_steps_free(gemm_steps *handle, gemm_steps_ptr memory)
{
    const bool used = handle && memory && (memory == handle->work.at || memory == handle->arrays.at);
    const gemm_steps_status s = handle_enter(handle, __func__, used ? "the handle uses this memory" : NULL);
    if (s != GEMM_STEPS_OK)
        return s;
    return handle_leave_dev(handle, !memory || (dev_sync(handle->dev) && dev_free(handle->dev, memory)));
}

gemm_steps_status gemm_steps_upload(gemm_steps *handle, gemm_steps_ptr to, const void *from, size_t bytes)
{
    const gemm_steps_status s = handle_enter(handle, __func__, to && from ? NULL : "a null pointer");
    return s != GEMM_STEPS_OK ? s : handle_leave_dev(handle, dev_upload(handle->dev, to, from, bytes));
}

gemm_steps_status gemm_steps_download(gemm_steps *handle, void *to, gemm_steps_ptr from, size_t bytes)
{
    const gemm_steps_status s = handle_enter(handle, __func__, to && from ? NULL : "a null pointer");
    return s != GEMM_STEPS_OK ? s : handle_leave_dev(handle, dev_download(handle->dev, to, from, bytes));
}
