// A product on device pointers: checks, plans, launches. See handle.h.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/matrix.h"
#include "gpu/gpu.h"
#include "handle.h"
#include "tester/choose.h"

// --- Checks ---

enum { SIZE_MOST = 1 << 30 };                          // of m, n and k: their sums with a tile's size fit an int
static const uint64_t bytes_most = (uint64_t)1 << 44;  // of a matrix: tiles can be counted in an int
enum { ALIGNMENT = 16 };

gemm_steps_status product_sizes(gemm_steps *h, enum dev_type type, int m, int n, int k, size_t bytes[3])
{
    const int sizes[3] = { m, n, k }, rows[3] = { m, k, m }, columns[3] = { k, n, n };
    for (int i = 0; i < 3; i++)
        if (sizes[i] < 1 || sizes[i] > SIZE_MOST)
            return handle_fail(h, GEMM_STEPS_BAD_ARGUMENT, "%c is %d; 1 to %d are allowed", "mnk"[i], sizes[i],
                               SIZE_MOST);
    for (int i = 0; i < 3; i++) {
        const uint64_t all = (uint64_t)rows[i] * (uint64_t)columns[i] * type_size(type);
        if (all > bytes_most || all > SIZE_MAX / 4)
            return handle_fail(h, GEMM_STEPS_BAD_ARGUMENT, "%c has %d x %d elements, %" PRIu64 " bytes: too many",
                               "ABC"[i], rows[i], columns[i], all);
        bytes[i] = (size_t)all;
    }
    return GEMM_STEPS_OK;
}

static gemm_steps_status check(gemm_steps *h, enum dev_type type, int m, int n, int k, const dev_ptr at[3])
{
    size_t bytes[3];
    const gemm_steps_status s = product_sizes(h, type, m, n, k, bytes);
    for (int i = 0; i < 3 && s == GEMM_STEPS_OK; i++) {
        if (!at[i])
            return handle_fail(h, GEMM_STEPS_BAD_ARGUMENT, "%c is a null pointer", "ABC"[i]);
        if (at[i] % ALIGNMENT)
            return handle_fail(h, GEMM_STEPS_BAD_ARGUMENT, "%c begins at 0x%" PRIx64 ", which is no multiple of %d",
                               "ABC"[i], at[i], ALIGNMENT);
        if (at[i] + bytes[i] < at[i])
            return handle_fail(h, GEMM_STEPS_BAD_ARGUMENT, "%c begins at 0x%" PRIx64 ": its end is past all memory",
                               "ABC"[i], at[i]);
    }
    for (int i = 0; i < 2 && s == GEMM_STEPS_OK; i++)
        if (at[i] < at[2] + bytes[2] && at[2] < at[i] + bytes[i])
            return handle_fail(h, GEMM_STEPS_BAD_ARGUMENT, "C overlaps %c", "AB"[i]);
    return s;
}

// --- Plans ---

static struct plan *find_plan(gemm_steps *h, const struct plan *wanted)
{
    for (struct plan *p = h->plans; p < h->plans + PLANS; p++)
        if (p->ready && p->type == wanted->type && p->m == wanted->m && p->n == wanted->n && p->k == wanted->k &&
            p->A == wanted->A && p->B == wanted->B && p->C == wanted->C)
            return p;
    return NULL;
}

// Of floats, step 07 itself takes no more than the steps of halves do.
static bool by_floats(const struct plan *p)
{
    return p->type == DEV_F32 && p->kernel != KERNEL_f32_whole;
}

// Bytes of workspace that a plan takes.
static size_t room_for(const struct plan *p, struct floats_way way)
{
    const struct gemm c = { .m = p->m, .n = p->n, .k = p->k };
    return by_floats(p) ? floats_room((struct floats_shape){ p->m, p->n, p->k }, way)
                        : gemm_room(&c, p->type, &p->geometry);
}

// Chooses the kernel and its tile, and grows the workspace as far as it may and can: else it must be a kernel without.
static bool choose(gemm_steps *h, struct plan *p, struct floats_way *way)
{
    const size_t limits[] = { h->limit, 0 };
    for (int i = 0; i < 2; i++) {
        const struct pick pick = pick_kernel(h->card, p->type, p->m, p->n, p->k, limits[i]);
        p->kernel = pick.kernel;
        *way = pick.way;
        if (!handle_module(h, p->kernel) || (by_floats(p) && !handle_module(h, KERNEL_f32_pack)))
            return false;
        p->geometry = choose_geometry(&h->loaded[p->kernel].geometries, p->m, p->n, p->k, h->card.sms);
        const size_t bytes = room_for(p, pick.way);
        p->works = bytes > 0;
        if (bytes <= h->limit && handle_grow(h, &h->work, "the workspace", bytes))
            return true;
    }
    handle_fail_dev(h, GEMM_STEPS_OUT_OF_MEMORY);  // a kernel without a workspace wants one: pick.c is wrong
    return false;
}

static bool open_floats(gemm_steps *h, struct plan *p, struct floats_way way)
{
    const struct floats_shape s = { p->m, p->n, p->k };
    if (floats_open(&p->floats, h->dev, h->loaded[p->kernel].module, &p->geometry, h->loaded[KERNEL_f32_pack].module, s,
                    way, p->A, p->B, p->C, h->work.at))
        return true;
    handle_fail_dev(h, GEMM_STEPS_FAILED);
    return false;
}

static bool open_step(gemm_steps *h, struct plan *p)
{
    p->gemm = (struct gemm){
        .m = p->m, .n = p->n, .k = p->k, .A = p->A, .B = p->B, .C = p->C, .sms = h->card.sms, .room = h->work.at
    };
    return gemm_open(&p->gemm, h->dev, h->loaded[p->kernel].module, p->geometry.kernel, p->type, &p->geometry,
                     h->error);
}

// Makes everything that a product needs beside alpha and beta.
static bool open_plan(gemm_steps *h, struct plan *p)
{
    struct floats_way way;
    if (!choose(h, p, &way))
        return false;
    p->ready = by_floats(p) ? open_floats(h, p, way) : open_step(h, p);
    const int parts = by_floats(p) ? p->floats.parts : p->geometry.parts;
    const int n =
        snprintf(p->name, sizeof p->name, "%s, %d x %d", kernel_texts[p->kernel].name, p->geometry.bm, p->geometry.bn);
    if (parts > 1)
        snprintf(p->name + n, sizeof p->name - (size_t)n, ", K in %d parts", parts);
    return p->ready;
}

static struct plan *plan_of(gemm_steps *h, const struct plan *wanted)
{
    struct plan *p = find_plan(h, wanted);
    if (p)
        return p;
    p = &h->plans[h->next++ % PLANS];
    *p = *wanted;
    return open_plan(h, p) ? p : NULL;
}

// --- Launches ---

static bool launch(gemm_steps *h, struct plan *p, float alpha, float beta)
{
    bool ok;
    if (by_floats(p)) {
        p->floats.alpha = alpha;
        p->floats.beta = beta;
        ok = floats_queue(&p->floats, h->dev);
    } else {
        p->gemm.alpha32 = alpha;
        p->gemm.beta32 = beta;
        ok = gemm_queue(&p->gemm, h->dev);
    }
    return ok && (!h->gpu || !p->works || gpu_mark(h->dev));
}

gemm_steps_status product_queue(gemm_steps *h, enum dev_type type, int m, int n, int k, float alpha, dev_ptr A,
                                dev_ptr B, float beta, dev_ptr C)
{
    for (int row = 0; row < m; row += h->rows) {
        const size_t before = (size_t)row * type_size(type);
        const struct plan wanted = {
            .type = type,
            .m = m - row < h->rows ? m - row : h->rows,
            .n = n,
            .k = k,
            .A = A + before * (size_t)k,
            .B = B,
            .C = C + before * (size_t)n,
        };
        struct plan *p = plan_of(h, &wanted);
        if (!p)
            return GEMM_STEPS_FAILED;
        memcpy(h->kernel, p->name, sizeof h->kernel);
        if (!launch(h, p, alpha, beta))
            return handle_fail_dev(h, GEMM_STEPS_FAILED);
    }
    return GEMM_STEPS_OK;
}

static gemm_steps_status product(gemm_steps *h, const char *function, enum dev_type type, int m, int n, int k,
                                 float alpha, dev_ptr A, dev_ptr B, float beta, dev_ptr C)
{
    gemm_steps_status s = handle_enter(h, function);
    if (s != GEMM_STEPS_OK)
        return s;
    s = check(h, type, m, n, k, (const dev_ptr[]){ A, B, C });
    if (s == GEMM_STEPS_OK)
        s = product_queue(h, type, m, n, k, alpha, A, B, beta, C);
    return handle_leave(h, s);
}

gemm_steps_status gemm_steps_f16(gemm_steps *handle, int m, int n, int k, float alpha, gemm_steps_ptr A,
                                 gemm_steps_ptr B, float beta, gemm_steps_ptr C)
{
    return product(handle, __func__, DEV_F16, m, n, k, alpha, A, B, beta, C);
}

gemm_steps_status gemm_steps_f32(gemm_steps *handle, int m, int n, int k, float alpha, gemm_steps_ptr A,
                                 gemm_steps_ptr B, float beta, gemm_steps_ptr C)
{
    return product(handle, __func__, DEV_F32, m, n, k, alpha, A, B, beta, C);
}
