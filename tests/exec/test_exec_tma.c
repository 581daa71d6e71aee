// cp.async.bulk.tensor on every Hopper device present: boxes of 1 to 5 dimensions, loaded and stored, in every swizzle,
// with parts out of bounds and with steps, against plain loops over coordinates.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "found.h"
#include "ptx_case.h"

enum { BYTES = 1 << 20, BOX = 16384, THREADS = 32, FILL = 0x5a };

struct tile {
    enum dev_map_type type;
    unsigned rank;
    uint64_t size[5];
    uint32_t box[5], step[5];
    int at[5];
    enum dev_swizzle swizzle;
};

// Copies a box between a tensor and shared memory, and the shared memory's bytes to or from out.
static void write_kernel(const struct tile *t, bool load, char *text, size_t size)
{
    char list[64] = "", map[160];
    for (unsigned i = 0; i < t->rank; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%sr%u", i ? ", " : "", 10 + i);
    snprintf(map, sizeof map, "[l1, {%s}]", list);
    int n = snprintf(text, size,
                     ".version 8.0\n.target sm_90a\n.address_size 64\n"
                     ".visible .entry k(.param .u64 out, .param .align 64 .b8 map[128], .param .u32 bytes)\n{\n"
                     ".shared .align 1024 .b8 box[%d];\n.shared .align 8 .b64 full;\n.reg .b32 r<20>; .reg .b64 l<9>; "
                     ".reg .pred p<9>;\n"
                     "ld.param.u64 l0, [out]; ld.param.u32 r1, [bytes]; mov.b64 l2, map; cvta.param.u64 l1, l2;\n"
                     "mov.u32 r0, %%tid.x; mov.u32 r2, box; mov.u32 r3, full; setp.ne.u32 p0, r0, 0;\n",
                     BOX);
    for (unsigned i = 0; i < t->rank; i++)
        n += snprintf(text + n, size - (size_t)n, "mov.u32 r%u, %d;\n", 10 + i, t->at[i]);
    if (load)
        n += snprintf(text + n, size - (size_t)n,
                      "@p0 bra READY;\nmbarrier.init.shared.b64 [r3], 1; fence.proxy.async;\n"
                      "mbarrier.arrive.expect_tx.shared.b64 _, [r3], r1;\n"
                      "cp.async.bulk.tensor.%ud.shared::cluster.global.mbarrier::complete_tx::bytes [r2], %s, [r3];\n"
                      "READY: bar.sync 0;\nW: mbarrier.try_wait.parity.shared.b64 p1, [r3], 0;\n@!p1 bra W;\n",
                      t->rank, map);
    n += snprintf(text + n, size - (size_t)n,
                  "mul.wide.u32 l3, r0, 4; add.u64 l4, l0, l3; shl.b32 r4, r0, 2; add.u32 r5, r2, r4;\n"
                  "MOVE: setp.ge.u32 p2, r4, r1; @p2 bra MOVED;\n%s\n"
                  "add.u64 l4, l4, 128; add.u32 r5, r5, 128; add.u32 r4, r4, 128; bra MOVE;\nMOVED:\n",
                  load ? "ld.shared.u32 r6, [r5]; st.global.u32 [l4], r6;"
                       : "ld.global.u32 r6, [l4]; st.shared.u32 [r5], r6;");
    if (!load)
        n += snprintf(text + n, size - (size_t)n,
                      "fence.proxy.async; bar.sync 0;\n@p0 bra END;\n"
                      "cp.async.bulk.tensor.%ud.global.shared::cta.bulk_group %s, [r2];\n"
                      "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nEND:\n",
                      t->rank, map);
    snprintf(text + n, size - (size_t)n, "ret;\n}\n");
}

static uint64_t stride_of(const struct tile *t, unsigned i)
{
    uint64_t stride = dev_map_type_bytes(t->type);
    for (unsigned k = 0; k < i; k++)
        stride = (stride * t->size[k] + 15) / 16 * 16 + (k ? 32 : 0);  // rows are padded
    return stride;
}

// For each element of the box, in the order of shared memory: where it lies there, and in the tensor; -1: out of
// bounds.
static void walk(const struct tile *t, bool load, uint32_t i, uint32_t *shared, int64_t *global)
{
    const uint32_t size = dev_map_type_bytes(t->type);
    const uint32_t mask = t->swizzle == DEV_SWIZZLE_128  ? 7
                          : t->swizzle == DEV_SWIZZLE_64 ? 3
                                                         : t->swizzle == DEV_SWIZZLE_32;
    *shared = i * size;
    *shared ^= (*shared >> 7 & mask) << 4;
    *global = 0;
    for (unsigned d = 0; d < t->rank; d++) {
        const uint32_t step = t->step[d] ? t->step[d] : 1, n = (t->box[d] + step - 1) / step;
        const int64_t x = t->at[d] + (int64_t)(i % n) * step;
        i /= n;
        int64_t end = t->size[d];
        if (!load && !d && step == 1)  // a store writes whole pieces of 16 bytes
            end = (end * size + 15) / 16 * 16 / size;
        if (x < 0 || x >= end)
            *global = INT64_MIN / 2;
        *global += x * (int64_t)stride_of(t, d);
    }
    *global = *global < 0 ? -1 : *global;
}

static bool launch(struct dev *d, const struct tile *t, bool load, dev_ptr tensor, dev_ptr out, uint32_t bytes)
{
    static char text[8192];
    struct dev_tensor x = { .address = tensor, .type = t->type, .rank = t->rank, .swizzle = t->swizzle };
    struct dev_tensor_map map;
    write_kernel(t, load, text, sizeof text);
    for (unsigned i = 0; i < t->rank; i++) {
        x.size[i] = t->size[i];
        x.box[i] = t->box[i];
        x.step[i] = t->step[i];
        if (i)
            x.stride[i - 1] = stride_of(t, i);
    }
    struct dev_module *m = dev_load_text(d, "tma.ptx", text, strlen(text));
    struct dev_kernel *k = m ? dev_kernel(d, m, "k") : NULL;
    struct dev_arg args[] = { DEV_ARG(out), DEV_ARG(map), DEV_ARG(bytes) };
    struct dev_launch l = { .block = { THREADS }, .args = args, .n_args = 3 };
    const bool done = k && dev_tensor_map(d, &x, &map) && dev_launch(d, k, &l) && dev_sync(d);
    if (m && done)
        dev_unload(d, m);
    return done;
}

// Why no load, or no store, may begin there; or NULL.
static const char *why_not(const struct tile *t, bool load)
{
    for (unsigned i = 0; i < t->rank && !load; i++)
        if (t->at[i] < 0)
            return "begins at a negative coordinate";
    return t->at[0] * (int)dev_map_type_bytes(t->type) % 16 ? "begins at a column that is no multiple of 16" : NULL;
}

// A GPU takes no more work after an illegal instruction, so it is not asked.
static void check_refused(struct dev *d, const struct tile *t, bool load, dev_ptr tensor, dev_ptr out, uint32_t bytes)
{
    if (!dev_about(d)->simulated)
        return;
    cr_expect(!launch(d, t, load, tensor, out, bytes));
    cr_expect(strstr(dev_error(d), why_not(t, load)), "%s", dev_error(d));
}

static void check(struct tile t)
{
    struct dev *devices[PTX_DEVICES];
    const size_t n_devices = ptx_devices_from(devices, 90, true);
    unsigned char *tensor = malloc(BYTES), *box = malloc(BOX), *got = malloc(BYTES), *want = malloc(BYTES);
    const uint32_t size = dev_map_type_bytes(t.type);
    uint32_t n = 1;
    for (unsigned i = 0; i < t.rank; i++)
        n *= t.step[i] ? (t.box[i] + t.step[i] - 1) / t.step[i] : t.box[i];
    cr_assert(n * size <= BOX && stride_of(&t, t.rank) <= BYTES);
    for (uint32_t i = 0; i < BYTES; i++)
        tensor[i] = (unsigned char)(i * 2654435761u >> 13);
    for (uint32_t i = 0; i < BOX; i++)
        box[i] = (unsigned char)(i * 40503u >> 5);
    for (size_t k = 0; k < n_devices; k++) {
        struct dev *d = devices[k];
        dev_ptr a, b;
        cr_assert(dev_alloc(d, "tensor", BYTES, &a) && dev_alloc(d, "box", BOX, &b), "%s", dev_error(d));
        for (int load = 1; load >= 0; load--) {
            if (why_not(&t, load)) {
                check_refused(d, &t, load, a, b, n * size);
                continue;
            }
            memset(want, FILL, BYTES);
            cr_assert(dev_upload(d, a, load ? tensor : want, BYTES) && dev_upload(d, b, load ? want : box, BOX));
            for (uint32_t i = 0; i < n; i++) {
                uint32_t shared;
                int64_t global;
                walk(&t, load, i, &shared, &global);
                if (load && global < 0)
                    memset(want + shared, 0, size);
                else if (load)
                    memcpy(want + shared, tensor + global, size);
                else if (global >= 0)
                    memcpy(want + global, box + shared, size);
            }
            cr_assert(launch(d, &t, load, a, b, n * size), "%s: %s of rank %u, type %d, swizzle %d, at %d %d: %s",
                      dev_about(d)->name, load ? "load" : "store", t.rank, (int)t.type, (int)t.swizzle, t.at[0],
                      t.at[1], dev_error(d));
            cr_assert(dev_download(d, got, load ? b : a, load ? BOX : BYTES));
            for (uint32_t i = 0; i < (load ? BOX : BYTES); i++)
                if (got[i] != want[i]) {
                    cr_expect_fail("%s: %s of rank %u, swizzle %d, at %d %d: byte %u is %02x, not %02x",
                                   dev_about(d)->name, load ? "load" : "store", t.rank, (int)t.swizzle, t.at[0],
                                   t.at[1], i, got[i], want[i]);
                    break;
                }
        }
        dev_close(d);
    }
    free(tensor);
    free(box);
    free(got);
    free(want);
}

Test(exec_tma, boxes_in_every_swizzle_and_at_every_edge)
{
    static const int places[][2] = { { 0, 0 },   { 8, 5 },   { -8, -3 }, { 88, 90 }, { 80, 99 },
                                     { 81, 99 }, { -72, 0 }, { -70, 0 }, { 8, 200 } };
    for (size_t i = 0; i < PTX_COUNTOF(places); i++)
        for (int swizzle = DEV_SWIZZLE_NONE; swizzle <= DEV_SWIZZLE_128; swizzle++)
            check((struct tile){ .type = DEV_MAP_F16,
                                 .rank = 2,
                                 .size = { 91, 100 },
                                 .box = { swizzle ? 8u << swizzle : 72, 24 },
                                 .at = { places[i][0], places[i][1] },
                                 .swizzle = (enum dev_swizzle)swizzle });
}

Test(exec_tma, one_to_five_dimensions)
{
    for (unsigned rank = 1; rank <= 5; rank++)
        for (int shift = -2; shift <= 3; shift++)
            check((struct tile){ .type = DEV_MAP_F32,
                                 .rank = rank,
                                 .size = { 20, 7, 6, 5, 4 },
                                 .box = { 8, 5, 3, 2, 3 },
                                 .at = { 4 * shift, shift, shift, shift, shift },
                                 .swizzle = rank % 2 ? DEV_SWIZZLE_NONE : DEV_SWIZZLE_32 });
}

Test(exec_tma, every_size_of_element)
{
    static const enum dev_map_type types[] = { DEV_MAP_U8, DEV_MAP_BF16, DEV_MAP_S32, DEV_MAP_F64 };
    for (size_t i = 0; i < PTX_COUNTOF(types); i++)
        for (int row = -2; row <= 7; row += 9)
            for (int col = 7; col <= 48; col += 41)
                check((struct tile){ .type = types[i],
                                     .rank = 3,
                                     .size = { 59, 11, 9 },
                                     .box = { 32 / dev_map_type_bytes(types[i]), 6, 4 },
                                     .at = { col, row, 6 },
                                     .swizzle = DEV_SWIZZLE_32 });
}

Test(exec_tma, steps_leave_elements_out)
{
    for (int first = -4; first <= 5; first += 9)
        check((struct tile){ .type = DEV_MAP_F16,
                             .rank = 3,
                             .size = { 96, 40, 12 },
                             .box = { 32, 16, 9 },
                             .step = { 1, 3, 4 },
                             .at = { 72, 29, first },
                             .swizzle = DEV_SWIZZLE_64 });
}

// A parameter that is not __grid_constant__ is copied to local memory first.
Test(exec_tma, a_tensor_map_is_no_copy_in_local_memory)
{
    static const char text[] =
        ".version 8.0\n.target sm_90a\n.address_size 64\n"
        ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n"
        ".shared .align 128 .b8 tile[1024];\n.shared .align 8 .b64 full;\n.local .align 64 .b8 map[128];\n"
        ".reg .b32 r<4>; .reg .b64 l<3>; .reg .pred p;\n"
        "mov.u32 r0, %tid.x; mov.u32 r1, tile; mov.u32 r2, full; setp.ne.u32 p, r0, 0; @p bra END;\n"
        "mbarrier.init.shared.b64 [r2], 1;\n"
        "mov.u64 l0, map; cvta.local.u64 l0, l0;\n"
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [r1], [l0, {0, 0}], [r2];\n"
        "END: ret;\n}\n";
    found_fails(text, (struct ptx_shape){ 1, 32, 0 }, 0, SUCH(SIMT_REFUSED, .here.line = 13));
}
