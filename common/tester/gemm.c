// See gemm.h.
#include "gemm.h"

#include <stdio.h>
#include <string.h>

#include "base/launch.h"
#include "base/matrix.h"
#include "simt/simt.h"

enum { SIM_SMS = 2 };  // of the simulated GPU: few, so that a block has several tiles in a small product, too

// Thread by thread, one after the other and with eight instructions for a multiply-add, a block does not take more; a
// kernel as kernels are takes a hundredth of it.
static uint64_t budget_of(int rows, int cols, int depth)
{
    const uint64_t work = (uint64_t)rows * (uint64_t)cols * (uint64_t)depth, most = 1u << 28;
    const uint64_t generous = 8 * work < most ? 8 * work : most;
    return (1u << 22) + (generous > 2 * work ? generous : 2 * work);
}

// From one row to the next: rows of whole 16 bytes are taken as they are. Others are copied to whole 128 bytes, so that
// a row of a box is one line of L2 and not parts of two.
static int pitch_of(int columns, enum dev_type type)
{
    const int unit = 16 / (int)type_size(type), line = 128 / (int)type_size(type);
    return columns % unit == 0 ? columns : (columns - 1) / line * line + line;
}

bool gemm_prepare(struct gemm *c, enum dev_type type, const struct geometry *g, char error[DEV_ERROR_MAX])
{
    const unsigned x = ((unsigned)c->n - 1) / (unsigned)g->bn + 1, y = ((unsigned)c->m - 1) / (unsigned)g->bm + 1;
    if (!g->blocks && y > LAUNCH_GRID_YZ_MAX) {
        snprintf(error, DEV_ERROR_MAX, "--m %d: takes %u blocks of %d rows, a grid has at most %d", c->m, y, g->bm,
                 LAUNCH_GRID_YZ_MAX);
        return false;
    }
    const uint64_t tiles = (uint64_t)x * y, most = (uint64_t)(c->sms > 0 ? c->sms : SIM_SMS) * (uint64_t)g->blocks;
    const unsigned deep = g->bk ? ((unsigned)c->k - 1) / (unsigned)g->bk + 1 : 1;
    const unsigned asked = g->parts > 1 ? (unsigned)g->parts : 1, parts = asked < deep ? asked : deep;
    // Blocks that share a tile have no other.
    const unsigned blocks = (unsigned)(parts > 1 ? tiles * parts : tiles < most ? tiles : most);
    c->alpha32 = (float)c->alpha;
    c->beta32 = (float)c->beta;
    const bool wide = type == DEV_F64;
    const struct dev_arg alpha = { wide ? (void *)&c->alpha : (void *)&c->alpha32, wide ? 8 : 4 };
    const struct dev_arg beta = { wide ? (void *)&c->beta : (void *)&c->beta32, wide ? 8 : 4 };
    struct dev_arg args[GEMM_ARGS] = {
        DEV_ARG(c->m), DEV_ARG(c->n), DEV_ARG(c->k),     alpha, DEV_ARG(c->A), DEV_ARG(c->B),
        beta,          DEV_ARG(c->C), DEV_ARG(c->c_map),
    };
    c->a = (struct gemm_operand){ .rows = c->m, .columns = c->k, .pitch = pitch_of(c->k, type), .from = c->A };
    c->b = (struct gemm_operand){ .rows = c->k, .columns = c->n, .pitch = pitch_of(c->n, type), .from = c->B };
    if (g->box) {
        args[4] = (struct dev_arg)DEV_ARG(c->a.map);
        args[5] = (struct dev_arg)DEV_ARG(c->b.map);
    }
    c->c_map = (struct dev_tensor_map){ 0 };
    memcpy(c->args, args, sizeof args);
    c->launch = (struct dev_launch){
        .grid = { blocks ? blocks : x, blocks ? 1 : y, 1 },
        .block = { (unsigned)g->threads, 1, 1 },
        .cluster = { g->split ? parts : 0, g->split ? 1 : 0, g->split ? 1 : 0 },
        .shared = (size_t)g->shared,
        .args = c->args,
        .n_args = g->cbox ? GEMM_ARGS : GEMM_ARGS - 1,
    };
    c->budget = budget_of(g->bm, g->bn, c->k) * (blocks > tiles || !blocks ? 1 : (tiles - 1) / blocks + 1);
    return true;
}

// --- Tensor maps ---

static bool swizzle_of(const struct geometry *g, enum dev_type type, enum dev_swizzle *out, char error[DEV_ERROR_MAX])
{
    const int bytes = g->box * (int)type_size(type);
    *out = bytes == 32 ? DEV_SWIZZLE_32 : bytes == 64 ? DEV_SWIZZLE_64 : DEV_SWIZZLE_128;
    if (bytes == 32 || bytes == 64 || bytes == 128)
        return true;
    snprintf(error, DEV_ERROR_MAX,
             "its geometry cannot work: BOX is %d, a row of %d bytes; a row of a box has 32, 64 or 128", g->box, bytes);
    return false;
}

// Bytes of a packed copy of rows x columns, 0 if there is none. The next one begins behind them, aligned as dev_alloc
// does it.
static size_t copy_bytes(int rows, int columns, enum dev_type type)
{
    const int pitch = pitch_of(columns, type);
    const size_t bytes = (size_t)rows * (size_t)pitch * type_size(type);
    return pitch == columns ? 0 : (bytes + 255) / 256 * 256;
}

// pack(rows, columns, from, pitch, to): a block copies a row, or a part of it, 16 bytes a thread.
static void plan_pack(struct gemm_operand *x, enum dev_type type, dev_ptr to)
{
    enum { THREADS = 256 };
    const int unit = 16 / (int)type_size(type);
    x->packed = to;
    const struct dev_arg args[GEMM_PACK_ARGS] = {
        DEV_ARG(x->rows), DEV_ARG(x->columns), DEV_ARG(x->from), DEV_ARG(x->pitch), DEV_ARG(x->packed),
    };
    memcpy(x->args, args, sizeof args);
    x->launch = (struct dev_launch){
        .grid = { (unsigned)x->rows, (unsigned)(x->pitch / unit - 1) / THREADS + 1 },
        .block = { THREADS },
        .args = x->args,
        .n_args = GEMM_PACK_ARGS,
    };
}

void gemm_plan_packs(struct gemm *c, enum dev_type type, dev_ptr a, dev_ptr b)
{
    if (c->a.pitch != c->a.columns)
        plan_pack(&c->a, type, a);
    if (c->b.pitch != c->b.columns)
        plan_pack(&c->b, type, b);
}

// The copy lies at `room`; if that is 0, it is allocated.
static bool prepare_pack(struct gemm_operand *x, struct dev *d, const char *name, enum dev_type type, dev_ptr room)
{
    if (x->pitch == x->columns)
        return true;
    if (!room && !dev_alloc(d, name, copy_bytes(x->rows, x->columns, type), &room))
        return false;
    plan_pack(x, type, room);
    return true;
}

static const enum dev_map_type map_types[] = {
    [DEV_F32] = DEV_MAP_F32, [DEV_F64] = DEV_MAP_F64, [DEV_F16] = DEV_MAP_F16
};

static struct dev_tensor operand_tensor(const struct gemm_operand *x, enum dev_type type, int box_rows, int box,
                                        enum dev_swizzle swizzle)
{
    return dev_matrix(x->packed ? x->packed : x->from, map_types[type], (uint64_t)x->rows, (uint64_t)x->columns,
                      (uint64_t)x->pitch, (uint32_t)box_rows, (uint32_t)box, swizzle);
}

bool gemm_tensors(struct gemm *c, enum dev_type type, const struct geometry *g, struct gemm_tensor out[GEMM_TENSORS],
                  size_t *n, char error[DEV_ERROR_MAX])
{
    enum dev_swizzle swizzle;
    *n = 0;
    if (!g->box)
        return true;
    if (!swizzle_of(g, type, &swizzle, error))
        return false;
    out[(*n)++] = (struct gemm_tensor){ operand_tensor(&c->a, type, g->bm, g->box, swizzle), &c->a.map };
    out[(*n)++] = (struct gemm_tensor){ operand_tensor(&c->b, type, g->bk, g->box, swizzle), &c->b.map };
    if (g->cbox && c->n == c->b.pitch)
        out[(*n)++] = (struct gemm_tensor){ dev_matrix(c->C, map_types[type], (uint64_t)c->m, (uint64_t)c->n,
                                                       (uint64_t)c->n, (uint32_t)g->cbox, (uint32_t)g->box, swizzle),
                                            &c->c_map };
    return true;
}

static bool prepare_maps(struct gemm *c, struct dev *d, enum dev_type type, const struct geometry *g,
                         char error[DEV_ERROR_MAX])
{
    struct gemm_tensor all[GEMM_TENSORS];
    size_t n;
    bool ok = gemm_tensors(c, type, g, all, &n, error);
    for (size_t i = 0; ok && i < n; i++) {
        ok = dev_tensor_map(d, &all[i].tensor, all[i].map);
        if (!ok)
            snprintf(error, DEV_ERROR_MAX, "%s", dev_error(d));
    }
    return ok;
}

// The multiprocessors of the device; of the simulated GPU, two.
static int sms_of(struct dev *d)
{
    const int sms = dev_about(d)->sm_count;
    return sms > 0 ? sms : SIM_SMS;
}

bool gemm_open(struct gemm *c, struct dev *d, struct dev_module *m, const char *name, enum dev_type type,
               const struct geometry *g, char error[DEV_ERROR_MAX])
{
    enum dev_swizzle swizzle;
    if (!c->sms)
        c->sms = sms_of(d);
    if (!gemm_prepare(c, type, g, error) || (g->box && !swizzle_of(g, type, &swizzle, error)))
        return false;
    c->kernel = dev_kernel(d, m, name);
    bool ok = c->kernel != NULL;
    if (ok && g->box) {
        const dev_ptr after_a = c->room ? c->room + copy_bytes(c->m, c->k, type) : 0;
        ok = prepare_pack(&c->a, d, "A, packed", type, c->room) && prepare_pack(&c->b, d, "B, packed", type, after_a);
        if (ok && !prepare_maps(c, d, type, g, error))
            return false;
        c->b.launch.early = c->a.packed != 0;  // behind the copy of A
        c->launch.early = c->a.packed || c->b.packed;
        if (ok && c->launch.early)
            ok = (c->pack = dev_kernel(d, m, "pack")) != NULL;
    }
    if (!ok)
        snprintf(error, DEV_ERROR_MAX, "%s", dev_error(d));
    return ok;
}

void gemm_close(struct gemm *c, struct dev *d)
{
    struct gemm_operand *both[] = { &c->a, &c->b };
    for (int i = 0; i < 2; i++) {
        if (both[i]->packed && !c->room)
            dev_free(d, both[i]->packed);
        both[i]->packed = 0;
    }
}

bool gemm_queue_copies(const struct gemm *c, struct dev *d, bool *go_on)
{
    const struct gemm_operand *both[] = { &c->a, &c->b };
    *go_on = true;
    for (int i = 0; i < 2 && *go_on; i++) {
        if (!both[i]->packed)
            continue;
        if (!dev_launch(d, c->pack, &both[i]->launch))
            return false;
        const struct simt_findings *f = dev_findings(d);
        *go_on = !f || !f->n;
    }
    return true;
}

bool gemm_queue(const struct gemm *c, struct dev *d)
{
    bool go_on;
    dev_set_budget(d, c->budget);
    return gemm_queue_copies(c, d, &go_on) && (!go_on || dev_launch(d, c->kernel, &c->launch));
}
