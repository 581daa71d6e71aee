// What orders threads, as the checks see it: kernels that nvcc made (kernels/orders.cu, orders_block.cu and
// orders_strong.cu), right ones, wrong ones and such as are advised against; and what a thread knows (vclock.h),
// against a plain table. ORDERS_PTX and so on are theirs.
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/device.h"
#include "found.h"
#include "ptx_case.h"
#include "simt/check/vclock.h"

enum { WORDS = 8192 };

enum file { ORDERS, ORDERS_BLOCK, ORDERS_STRONG };

static const char *const files[] = { ORDERS_PTX, ORDERS_BLOCK_PTX, ORDERS_STRONG_PTX };

static const struct launched {
    const char *name;
    unsigned blocks, threads;
    enum file file;
} kernels[] = {
    { "right_lock", 12, 32, ORDERS },
    { "right_lock_acquire_and_release", 12, 32, ORDERS },
    { "wrong_lock_without_fences", 12, 32, ORDERS },
    { "wrong_lock_with_fences_of_the_block", 12, 32, ORDERS },
    { "wrong_lock_by_some", 12, 32, ORDERS },
    { "right_last_block", 40, 64, ORDERS },
    { "right_last_block_where_all_fence", 40, 64, ORDERS },
    { "right_last_block_by_atomics", 40, 64, ORDERS },
    { "wrong_last_block_without_a_fence_before", 40, 64, ORDERS },
    { "wrong_last_block_that_nobody_waits_for", 40, 64, ORDERS },
    { "right_volatile_flag", 4, 32, ORDERS },
    { "wrong_volatile_flag_without_a_fence", 4, 32, ORDERS },
    { "right_flag_released_and_acquired", 4, 32, ORDERS },
    { "wrong_flag_for_the_block_alone", 4, 32, ORDERS },
    { "wrong_flag_relaxed", 4, 32, ORDERS },
    { "wrong_flag_acquired_but_not_released", 4, 32, ORDERS },
    { "right_flag_that_was_seen_is_taken_back", 2, 32, ORDERS },
    { "right_flag_that_was_stored_is_taken_back", 2, 32, ORDERS },
    { "right_flag_that_one_has_seen_for_its_block", 2, 32, ORDERS },
    { "wrong_flag_that_nobody_has_seen_is_taken_back", 2, 32, ORDERS },
    { "wrong_data_of_a_flag_that_was_seen_is_taken_back", 2, 32, ORDERS },
    { "right_word_of_the_block_that_was_seen_is_taken_back", 1, 64, ORDERS },
    { "wrong_word_of_the_block_that_nobody_has_seen_is_taken_back", 1, 64, ORDERS },
    { "right_order_through_atomics_of_both_scopes", 2, 64, ORDERS },
    { "wrong_order_through_atomics_of_both_scopes_without_fences", 2, 64, ORDERS },
    { "right_wait_for_a_later_block", 12, 64, ORDERS },
    { "wrong_wait_for_a_later_block_relaxed", 12, 64, ORDERS },
    { "wrong_in_a_block_that_others_came_before", 12, 64, ORDERS },
    { "right_histogram_that_is_read_while_it_grows", 8, 64, ORDERS },
    { "wrong_histogram_that_is_read_plainly", 8, 64, ORDERS },
    { "right_wait_of_one_lane_for_its_warp", 6, 32, ORDERS },
    { "wrong_wait_of_one_lane_for_its_warp_relaxed", 6, 32, ORDERS },
    { "right_fence_after_the_vote", 6, 32, ORDERS },
    { "wrong_lanes_that_only_exchange_values", 1, 32, ORDERS },
    { "right_larger_by_compare_and_swap", 4, 64, ORDERS },
    { "right_sums_by_compare_and_swap", 4, 64, ORDERS },
    { "right_pairs_by_compare_and_swap", 4, 64, ORDERS },
    { "right_larger_along_an_array", 4, 64, ORDERS },
    { "wrong_larger_behind_a_plain_guard", 1, 64, ORDERS },
    { "wrong_slot_taken_behind_a_plain_guard", 4, 1, ORDERS },
    { "wrong_compare_and_swap_at_another_place", 1, 64, ORDERS },
    { "wrong_compare_and_swap_with_a_plain_store", 1, 64, ORDERS },
    { "wrong_guess_from_half_of_it", 1, 64, ORDERS },
    { "right_reads_of_what_compare_and_swap_leaves_alone", 4, 64, ORDERS },
    { "wrong_reads_of_what_compare_and_swap_changes", 4, 64, ORDERS },
    { "wrong_histogram_with_atomics_of_the_block", 8, 64, ORDERS },
    { "right_histogram_of_each_block", 8, 64, ORDERS },
    { "wrong_counter_set_plainly_before", 1, 64, ORDERS },
    { "right_last_thread", 2, 128, ORDERS_BLOCK },
    { "right_last_thread_with_fences", 2, 128, ORDERS_BLOCK },
    { "wrong_last_thread_without_fences", 2, 128, ORDERS_BLOCK },
    { "wrong_last_thread_relaxed", 2, 128, ORDERS_BLOCK },
    { "right_barrier", 1, 128, ORDERS_BLOCK },
    { "right_barrier_that_several_make_alike", 1, 128, ORDERS_BLOCK },
    { "wrong_barrier_once_a_turn", 1, 128, ORDERS_BLOCK },
    { "right_blocks_that_store_one_value", 8, 64, ORDERS_STRONG },
    { "right_warps_that_store_with_a_barrier_between", 8, 64, ORDERS_STRONG },
    { "right_counter_of_the_block_that_is_set_before", 1, 128, ORDERS_STRONG },
    { "right_warps_that_store_one_value_to_shared_memory", 1, 128, ORDERS_STRONG },
    { "right_lock_that_a_store_opens", 8, 64, ORDERS_STRONG },
    { "right_lock_acquired_and_released", 8, 64, ORDERS_STRONG },
    { "right_turns_of_blocks", 8, 64, ORDERS_STRONG },
    { "right_last_block", 8, 64, ORDERS_STRONG },
    { "right_last_block_with_both_fences", 8, 64, ORDERS_STRONG },
    { "right_word_that_is_only_looked_at", 8, 64, ORDERS_STRONG },
    { "right_volatile_word_behind_a_flag", 8, 64, ORDERS_STRONG },
    { "right_wait_that_acquires", 8, 64, ORDERS_STRONG },
    { "right_wait_with_a_fence", 8, 64, ORDERS_STRONG },
    { "right_decoupled_look_back", 8, 64, ORDERS_STRONG },
};

// What has no error, and is advised against.
static const struct {
    struct launched launched;
    enum simt_finding_kind kind;
} advised[] = {
    { { "advice_blocks_that_store", 8, 64, ORDERS_STRONG }, SIMT_STRONG_WRITES },
    { { "advice_blocks_of_which_one_stores_and_others_add", 8, 64, ORDERS_STRONG }, SIMT_STRONG_WRITES },
    { { "advice_a_store_among_tickets", 8, 64, ORDERS_STRONG }, SIMT_STRONG_WRITES },
    { { "advice_warps_that_store_relaxed", 8, 64, ORDERS_STRONG }, SIMT_STRONG_WRITES },
    { { "advice_lanes_that_store", 8, 64, ORDERS_STRONG }, SIMT_STRONG_WRITES },
    { { "advice_warps_that_store_to_shared_memory", 1, 128, ORDERS_STRONG }, SIMT_STRONG_WRITES },
    { { "advice_a_counter_of_the_block_that_is_set_while_others_add", 1, 128, ORDERS_STRONG }, SIMT_STRONG_WRITES },
    { { "advice_last_block_without_a_fence", 8, 64, ORDERS_STRONG }, SIMT_RELAXED_READ },
    { { "advice_last_block_with_a_fence_behind", 8, 64, ORDERS_STRONG }, SIMT_RELAXED_READ },
    { { "advice_wait_with_a_barrier_alone", 8, 64, ORDERS_STRONG }, SIMT_RELAXED_WAIT },
    { { "advice_lock_taken_for_a_block_with_a_barrier_alone", 8, 64, ORDERS_STRONG }, SIMT_RELAXED_WAIT },
};

// What the checks find in a launch; valid until the next call.
static const struct simt_findings *look_at(const struct launched *l, unsigned jobs)
{
    static const uint32_t zeros[WORDS];
    static struct dev *d;  // keeps the findings
    dev_ptr to = 0, from = 0;
    dev_close(d);
    d = ptx_simulator();
    dev_set_checks(d, true);
    dev_set_jobs(d, jobs);
    struct dev_module *m = dev_load(d, files[l->file]);
    struct dev_kernel *k = m ? dev_kernel(d, m, l->name) : NULL;
    struct dev_arg args[] = { DEV_ARG(to), DEV_ARG(from) };
    struct dev_launch launch = { .grid = { l->blocks }, .block = { l->threads }, .args = args, .n_args = 2 };
    bool ok = k && dev_alloc(d, "out", sizeof zeros, &to) && dev_alloc(d, "in", sizeof zeros, &from) &&
              dev_upload(d, from, zeros, sizeof zeros) && dev_upload(d, to, zeros, sizeof zeros) &&
              dev_launch(d, k, &launch) && dev_sync(d);
    cr_assert(ok, "%s: %s", l->name, dev_error(d));
    return dev_findings(d);
}

// advice: SIMT_NOTHING, or the kind of all that is advised.
static void expect_its_verdict(const struct launched *k, enum simt_finding_kind advice)
{
    const bool wrong = !strncmp(k->name, "wrong", 5);
    const struct simt_findings *f = look_at(k, 2);
    bool race = false, advised = false, kinds = true;
    for (size_t i = 0; i < f->n + f->n_advice; i++) {
        race |= simt_finding_class(f->all[i].kind) == SIMT_CLASS_RACE;
        if (simt_finding_class(f->all[i].kind) != SIMT_CLASS_ORDER)
            continue;
        advised = true;
        kinds &= f->all[i].kind == advice;
    }
    cr_expect(wrong ? race : !f->n, "%s:\n%s", k->name, found_text(f));
    cr_expect(wrong || (advised == (bool)advice && kinds), "%s:\n%s", k->name, found_text(f));
}

static void expect_the_same_of_any_threads(const struct launched *k)
{
    char *one = strdup(found_text(look_at(k, 1)));
    cr_expect_str_eq(found_text(look_at(k, 5)), one, "%s", k->name);
    free(one);
}

Test(check_order, right_kernels_have_no_race_and_wrong_ones_have_one)
{
    for (size_t i = 0; i < PTX_COUNTOF(kernels); i++)
        expect_its_verdict(&kernels[i], SIMT_NOTHING);
}

Test(check_order, strong_accesses_that_nothing_orders_are_advised_against)
{
    for (size_t i = 0; i < PTX_COUNTOF(advised); i++) {
        expect_its_verdict(&advised[i].launched, advised[i].kind);
        expect_the_same_of_any_threads(&advised[i].launched);
    }
}

Test(check_order, findings_are_the_same_with_any_number_of_host_threads)
{
    for (size_t i = 0; i < PTX_COUNTOF(kernels); i++)
        expect_the_same_of_any_threads(&kernels[i]);
}

// What CUDA 11.8's headers have not, or have wrong: no tiles of several warps; and a block's pipeline copies into a
// stage without waiting for those who still read it, which is a race indeed.
Test(check_order, the_same_with_the_headers_of_cuda_12)
{
    static const struct launched later[] = {
        { "right_pipeline", 1, 128, ORDERS_BLOCK },
        { "right_sums_of_tiles_of_several_warps", 2, 128, ORDERS },
        { "right_tile_of_two_warps", 1, 128, ORDERS_BLOCK },
        { "wrong_tile_of_two_warps_for_four", 1, 128, ORDERS_BLOCK },
    };
    if (atoi(&KERNELS_BY[strlen("nvcc ")]) < 12)
        cr_skip_test("they need the headers of CUDA 12, and the kernels were compiled by " KERNELS_BY);
    for (size_t i = 0; i < PTX_COUNTOF(later); i++) {
        expect_its_verdict(&later[i], SIMT_NOTHING);
        expect_the_same_of_any_threads(&later[i]);
    }
}

Test(check_order, a_finding_between_blocks_says_what_is_missing)
{
    const struct launched block_scope = { "wrong_histogram_with_atomics_of_the_block", 8, 64, ORDERS };
    const struct launched unfenced = { "wrong_volatile_flag_without_a_fence", 4, 32, ORDERS };
    found_expect(look_at(&block_scope, 1), SUCH(SIMT_RACE_BLOCKS, HERE(0, ANY, CHANGES), THERE(0, ANY, CHANGES)),
                 block_scope.name);
    const struct simt_findings *f = look_at(&unfenced, 1);
    const struct simt_finding *race = found_among(f, SUCH(SIMT_RACE_BLOCKS));
    cr_expect(race && race->orders_blocks, "%s", found_text(f));
}

// --- vclock.h ---

enum { BLOCKS = 70, THREADS = 96, TREES = 6, ROUNDS = 4000 };

static uint32_t table[TREES][BLOCKS][THREADS];

static void raise_in_table(uint32_t t, uint32_t block, uint32_t from, uint32_t to, uint32_t at)
{
    for (uint32_t i = from; i < to; i++)
        table[t][block][i] = at > table[t][block][i] ? at : table[t][block][i];
}

Test(check_order, what_is_known_is_what_a_table_says)
{
    struct vclock_pool pool = vclock_pool(BLOCKS);
    struct vclock *tree[TREES] = { 0 };
    struct vclock_last_join lesson = { 0 };
    srand(1);
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        const uint32_t t = (uint32_t)rand() % TREES, other = (uint32_t)rand() % TREES;
        const uint32_t block = (uint32_t)rand() % BLOCKS, thread = (uint32_t)rand() % THREADS;
        switch (rand() % 8) {
        case 0:
            vclock_raise_group(&pool, &tree[t], VCLOCK_WARP, block, thread, round);
            raise_in_table(t, block, thread / 32 * 32, thread / 32 * 32 + 32, round);
            break;
        case 1:
            vclock_raise_group(&pool, &tree[t], VCLOCK_BLOCK, block, 0, round);
            raise_in_table(t, block, 0, THREADS, round);
            break;
        case 2:
            vclock_join(&pool, &tree[t], tree[other]);
            for (uint32_t b = 0; b < BLOCKS; b++)
                for (uint32_t i = 0; i < THREADS; i++)
                    raise_in_table(t, b, i, i + 1, table[other][b][i]);
            break;
        case 3:  // a second one knows the same, and learns the same
            vclock_set(&pool, &tree[(t + 1) % TREES], tree[t]);
            memcpy(table[(t + 1) % TREES], table[t], sizeof table[t]);
            break;
        case 4:
            for (uint32_t i = t; i <= t + 1; i++) {
                vclock_join_again(&pool, &lesson, &tree[i % TREES], tree[other]);
                for (uint32_t b = 0; b < BLOCKS; b++)
                    for (uint32_t j = 0; j < THREADS; j++)
                        raise_in_table(i % TREES, b, j, j + 1, table[other][b][j]);
            }
            break;
        case 5:
            if (round % 50 == 0) {
                vclock_drop(&pool, &tree[t]);
                memset(table[t], 0, sizeof table[t]);
            }
            break;
        default:
            vclock_raise_thread(&pool, &tree[t], block, thread, round);
            raise_in_table(t, block, thread, thread + 1, round);
        }
        for (uint32_t b = 0; round % 20 == 0 && b < BLOCKS; b++)
            for (uint32_t i = 0; i < THREADS; i++)
                cr_assert_eq(vclock_at(&pool, tree[t], b, i), table[t][b][i], "round %u: block %u, thread %u", round, b,
                             i);
    }
    for (uint32_t t = 0; t < TREES; t++)
        vclock_drop(&pool, &tree[t]);
    vclock_last_join_drop(&pool, &lesson);
    vclock_pool_free(&pool);
}
