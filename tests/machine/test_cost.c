// Tests of common/simt/machine/cost.c: the rules of banks and sectors against counters of real hardware.
//
// truth/h200_micro.tsv holds counters that Nsight Compute 2025.3 read from an NVIDIA H200, one kernel a row. Each
// kernel has one memory instruction whose lanes are at known byte offsets ("inactive" where a lane takes no part);
// every warp of its blocks uses the same offsets. Kernels that load also store their result, one coalesced 4-byte
// store a warp. The build defines TRUTH_TSV, the path of the table.
#include <criterion/criterion.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"
#include "simt/machine/cost.h"

enum { LANES = 32 };

struct row {
    char kernel[64], ptx[64], space[32];
    uint32_t bytes, warps;  // bytes a lane; warps of the whole launch
    uint64_t offset[LANES];
    uint32_t mask;
    uint64_t shared_waves[2], shared_conflicts[2];  // [0] loads, [1] stores
    uint64_t waves, ideal;
    uint64_t requests[2], sectors[2];
};

static const char *const wave_name[2] = {
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
};
static const char *const conflict_name[2] = {
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
};
static const char *const request_name[2] = {
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
};
static const char *const sector_name[2] = {
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
};

static const char *text_of(const struct table *t, const char *column)
{
    for (size_t i = 0; i < t->columns; i++)
        if (strcmp(t->name[i], column) == 0)
            return t->field[i];
    cr_assert_fail("%s has no column '%s'", TRUTH_TSV, column);
    return "";
}

static uint64_t number_of(const struct table *t, const char *column)
{
    const char *text = text_of(t, column);
    char *end;
    uint64_t n = strtoull(text, &end, 10);
    cr_assert(*text && !*end, "%s: '%s' is no count", column, text);
    return n;
}

static void offsets_of(const char *text, struct row *r)
{
    int lane = 0;
    for (; *text; lane++) {
        char *end = (char *)text + strcspn(text, ",");
        cr_assert_lt(lane, LANES, "%s: more than %d lanes", r->kernel, LANES);
        if (strncmp(text, "inactive", 8) != 0) {
            r->offset[lane] = strtoull(text, &end, 10);
            r->mask |= 1u << lane;
        }
        text = *end ? end + 1 : end;
    }
    cr_assert_eq(lane, LANES, "%s: %d lanes", r->kernel, lane);
}

// The next row whose instruction is a plain load or store of that space; false at the end.
static bool next_row(struct table *t, const char *space, struct row *r)
{
    while (truth_next(t)) {
        const char *ptx = text_of(t, "ptx");
        if (strcmp(text_of(t, "space"), space) != 0 || (strncmp(ptx, "ld.", 3) != 0 && strncmp(ptx, "st.", 3) != 0))
            continue;
        *r = (struct row){ .bytes = (uint32_t)number_of(t, "bytes") };
        snprintf(r->kernel, sizeof r->kernel, "%s", text_of(t, "kernel"));
        snprintf(r->ptx, sizeof r->ptx, "%s", ptx);
        r->warps = (uint32_t)(number_of(t, "threads") / LANES * number_of(t, "blocks"));
        offsets_of(text_of(t, "lane_offsets"), r);
        for (int k = 0; k < 2; k++) {
            r->shared_waves[k] = number_of(t, wave_name[k]);
            r->shared_conflicts[k] = number_of(t, conflict_name[k]);
            r->requests[k] = number_of(t, request_name[k]);
            r->sectors[k] = number_of(t, sector_name[k]);
        }
        r->waves = number_of(t, "memory_l1_wavefronts_shared");
        r->ideal = number_of(t, "memory_l1_wavefronts_shared_ideal");
        return true;
    }
    return false;
}

static bool is_store(const struct row *r)
{
    return r->ptx[0] == 's';
}

static struct shared_cost cost_of(const struct row *r)
{
    uint32_t address[LANES];
    for (int i = 0; i < LANES; i++)
        address[i] = (uint32_t)r->offset[i];
    return cost_shared(address, r->mask, r->bytes, !is_store(r));
}

static int same(const struct row *r, const char *what, uint64_t a_warp, uint64_t hardware)
{
    uint64_t all = a_warp * r->warps;
    cr_expect_eq(all, hardware, "%s (%s, %u warps): %s is %" PRIu64 ", the H200 counted %" PRIu64, r->kernel, r->ptx,
                 r->warps, what, all, hardware);
    return all == hardware;
}

// All rows of a space must agree; least: how many there are at least.
static void expect_agreement(const char *space, bool (*agrees)(const struct row *r), int least)
{
    struct table t;
    struct row r;
    int rows = 0, right = 0;
    truth_open(&t, TRUTH_TSV);
    while (next_row(&t, space, &r)) {
        rows++;
        right += agrees(&r);
    }
    table_close(&t);
    cr_assert_geq(rows, least, "only %d rows of %s memory in %s", rows, space, TRUTH_TSV);
    cr_assert_eq(right, rows, "%d of %d rows agree", right, rows);
}

static bool waves_agree(const struct row *r)
{
    const struct shared_cost cost = cost_of(r);
    const int k = is_store(r);
    cr_expect_eq(r->shared_waves[!k], 0, "%s: the other direction counted too", r->kernel);
    return same(r, wave_name[k], cost.waves, r->shared_waves[k]) &
           same(r, "memory_l1_wavefronts_shared", cost.waves, r->waves);
}

static bool conflicts_agree(const struct row *r)
{
    const int k = is_store(r);
    return same(r, conflict_name[k], cost_of(r).conflicts, r->shared_conflicts[k]);
}

static bool ideals_agree(const struct row *r)
{
    return same(r, "memory_l1_wavefronts_shared_ideal", cost_of(r).ideal, r->ideal);
}

Test(cost, shared_wavefronts_are_those_of_an_h200)
{
    expect_agreement("shared", waves_agree, 100);
}

Test(cost, shared_bank_conflicts_are_those_of_an_h200)
{
    expect_agreement("shared", conflicts_agree, 100);
}

Test(cost, ideal_shared_wavefronts_are_those_of_nsight_compute)
{
    expect_agreement("shared", ideals_agree, 100);
}

Test(cost, global_sectors_are_those_of_an_h200)
{
    struct table t;
    struct row r;
    uint64_t result[LANES];
    int rows = 0, right = 0;
    for (int i = 0; i < LANES; i++)
        result[i] = 4 * (uint64_t)i;
    truth_open(&t, TRUTH_TSV);
    while (next_row(&t, "global", &r)) {
        int k = is_store(&r);
        rows++;
        right += same(&r, sector_name[k], cost_sectors(r.offset, r.mask), r.sectors[k]) &
                 same(&r, request_name[k], 1, r.requests[k]);
        if (k)
            cr_expect_eq(r.sectors[0], 0, "%s loads nothing", r.kernel);
        else  // a load's kernel stores its result from every lane
            right -= !(same(&r, sector_name[1], cost_sectors(result, ~0u), r.sectors[1]) &
                       same(&r, request_name[1], 1, r.requests[1]));
    }
    table_close(&t);
    cr_assert_geq(rows, 25, "only %d rows of global memory in %s", rows, TRUTH_TSV);
    cr_assert_eq(right, rows, "%d of %d rows agree", right, rows);
}

// --- what the table does not hold ---

Test(cost, an_access_by_no_lane_is_free)
{
    uint32_t address[LANES] = { 0 };
    uint64_t wide[LANES] = { 0 };
    for (uint32_t bytes = 1; bytes <= 16; bytes *= 2) {
        struct shared_cost cost = cost_shared(address, 0, bytes, true);
        cr_expect(cost.waves == 0 && cost.conflicts == 0 && cost.ideal == 0, "%u bytes: %u %u %u", bytes, cost.waves,
                  cost.conflicts, cost.ideal);
    }
    cr_expect_eq(cost_sectors(wide, 0), 0);
}

Test(cost, moving_every_lane_by_whole_words_changes_nothing)
{
    struct table t;
    struct row r;
    truth_open(&t, TRUTH_TSV);
    while (next_row(&t, "shared", &r)) {
        uint32_t address[LANES];
        struct shared_cost cost = cost_of(&r);
        for (uint32_t by = 16; by <= 4096; by *= 4) {
            for (int i = 0; i < LANES; i++)
                address[i] = (uint32_t)r.offset[i] + by;
            struct shared_cost moved = cost_shared(address, r.mask, r.bytes, !is_store(&r));
            cr_expect(moved.waves == cost.waves && moved.conflicts == cost.conflicts && moved.ideal == cost.ideal,
                      "%s moved by %u bytes: %u wavefronts instead of %u", r.kernel, by, moved.waves, cost.waves);
        }
    }
    table_close(&t);
}

Test(cost, a_sector_counts_once_however_many_lanes_share_it)
{
    uint64_t address[LANES];
    for (uint64_t step = 1; step <= 64; step++) {
        for (uint64_t i = 0; i < LANES; i++)
            address[i] = (1ull << 40) + i * step;
        uint64_t want = step >= 32 ? LANES : 31 * step / 32 + 1;  // every sector from the first lane's to the last's
        cr_expect_eq(cost_sectors(address, ~0u), want, "lanes %" PRIu64 " bytes apart: %u sectors, not %" PRIu64, step,
                     cost_sectors(address, ~0u), want);
    }
}
