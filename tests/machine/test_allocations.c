// What is known of allocations from launch to launch, however many there are.
#include <criterion/criterion.h>

#include "simt/machine/memory.h"

enum { N = 100 };

static struct memory m;
static uint64_t at[N];

static void allocate(void)
{
    for (int i = 0; i < N; i++)
        cr_assert(at[i] = memory_alloc(&m, "some", 64));
}

static void expect(int from, int to, enum pending p)
{
    for (int i = 0; i < N; i++)
        cr_expect_eq(memory_pending(&m, at[i]), i >= from && i <= to ? p : SETTLED, "%d", i);
}

Test(allocations, only_what_the_launch_before_wrote_is_pending)
{
    allocate();
    memory_write(&m, at[60], 64);
    memory_write(&m, at[59], 64);
    expect(0, -1, SETTLED);
    memory_begin_launch(&m, true, false);
    expect(59, 60, PENDING_LAST);
    memory_begin_launch(&m, true, false);
    expect(59, 60, PENDING_OLDER);
    memory_begin_launch(&m, true, true);
    expect(0, -1, SETTLED);
    memory_write(&m, at[7], 64);
    memory_begin_launch(&m, true, true);
    expect(7, 7, PENDING_LAST);
    memory_settle(&m);
    expect(0, -1, SETTLED);
    memory_destroy(&m);
}

Test(allocations, a_launch_without_checks_may_have_written_all_there_is_then)
{
    allocate();
    memory_write_all(&m);
    const uint64_t later = memory_alloc(&m, "later", 64);
    cr_expect(memory_written(&m, at[N - 1], 64) && !memory_written(&m, later, 64));
    memory_write_all(&m);
    cr_expect(memory_written(&m, later, 64));
    memory_destroy(&m);
}

Test(allocations, what_is_put_back_is_pending_and_unwritten_again)
{
    allocate();
    memory_write(&m, at[3], 8);
    struct memory_copy *before = memory_save(&m);
    cr_assert(before);
    memory_begin_launch(&m, false, false);
    memory_write_all(&m);
    memory_restore(&m, before);
    cr_expect(memory_written(&m, at[3], 8) && !memory_written(&m, at[3], 9));
    memory_begin_launch(&m, true, false);
    expect(3, 3, PENDING_LAST);
    memory_write_all(&m);
    cr_expect(memory_written(&m, at[3], 9));
    memory_copy_free(before);
    memory_destroy(&m);
}

Test(allocations, one_that_grows_keeps_its_content_and_what_of_it_was_written)
{
    allocate();
    memory_write_all(&m);
    const uint64_t some = at[7];
    *memory_at(&m, some + 63, 1) = 11;
    cr_assert(memory_resize(&m, some, 96));
    cr_expect(memory_written(&m, some, 64) && !memory_written(&m, some + 64, 1) && memory_at(&m, some, 96));
    cr_assert(memory_resize(&m, some, 128));
    cr_expect(memory_written(&m, some, 64) && !memory_written(&m, some + 64, 1));
    memory_write_all(&m);
    cr_expect(memory_written(&m, some, 128));
    cr_assert(memory_resize(&m, some, 64));
    cr_expect(memory_written(&m, some, 64) && !memory_at(&m, some, 65) && *memory_at(&m, some + 63, 1) == 11);
    cr_assert(memory_resize(&m, some, 0));
    cr_expect(!memory_at(&m, some, 1));
    cr_expect_eq(m.used, (N - 1) * 64);
    memory_destroy(&m);
}

Test(allocations, low_numbers_are_kept_and_given_again)
{
    cr_assert(memory_keep_low(&m));
    const uint64_t usual = memory_alloc(&m, "usual", 64), first = memory_alloc_low(&m, "first", 64);
    cr_expect_eq(usual >> MEMORY_SHIFT, MEMORY_LOW);
    cr_expect_eq(first >> MEMORY_SHIFT, 1);
    memory_write_all(&m);
    for (int i = 0; i < 2 * MEMORY_LOW; i++) {
        const uint64_t some = memory_alloc_low(&m, "some", 8);
        cr_assert(some && some != first && some >> MEMORY_SHIFT < MEMORY_LOW && !memory_written(&m, some, 8));
        cr_assert(memory_release(&m, some));
    }
    int n = 1;
    while (memory_alloc_low(&m, "some", 8))
        n++;
    cr_expect_eq(n, MEMORY_LOW - 1);
    memory_destroy(&m);
}
