// Tests of common/tester/meaning: which finding is believed, and what it means.
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tester/meaning.h"

#define AT(l, w, what, how)                                                                                            \
    {                                                                                                                  \
        .place = { .file = "kernel.cu", .line = l }, .warp = w, .access = SIMT_##what, .by = SIMT_BY_##how             \
    }

// From the mistake to what follows from it.
static const struct {
    struct simt_finding finding;
    const char *means;
} all[] = {
    { { .kind = SIMT_OUT_OF_BOUNDS, .here = AT(1, 0, WRITES, THREAD) }, "an index is wrong" },
    { { .kind = SIMT_UNINIT_MEMORY, .here = { .access = SIMT_CHANGES, .instruction = "mbarrier.arrive.shared.b64" } },
      "an mbarrier is used that was not initialised" },
    { { .kind = SIMT_BARRIER_LEFT, .here = AT(1, 0, READS, THREAD) }, "a barrier that not all threads reach" },
    { { .kind = SIMT_PROXY_FENCE, .here = AT(1, 0, READS, WGMMA), .there = AT(2, 0, WRITES, THREAD) },
      "a fence is missing" },
    { { .kind = SIMT_COPY_PENDING, .here = AT(1, 1, READS, THREAD), .there = AT(2, 1, WRITES, CP_ASYNC) },
      "a copy is on its way: the wait for it is missing or leaves too many" },
    { { .kind = SIMT_COPY_PENDING, .here = AT(1, 1, WRITES, CP_ASYNC), .there = AT(2, 1, WRITES, CP_ASYNC) },
      "two copies write to the same bytes" },
    { { .kind = SIMT_RACE, .here = AT(1, 1, READS, THREAD), .there = AT(2, 2, WRITES, THREAD) },
      "a barrier is missing" },
    { { .kind = SIMT_UNINIT_MEMORY, .here = { .access = SIMT_READS, .instruction = "ld.shared.f32" } },
      "something is read that was never written" },
    { { .kind = SIMT_LOAD_LEFT, .here = AT(1, 0, WRITES, BULK_COPY) }, "a copy that nobody waits for" },
};
enum { ALL = sizeof all / sizeof *all };

static const struct tester_options options = { .beta = 1 };

Test(meaning, the_mistake_is_believed_before_what_follows_from_it)
{
    for (size_t i = 0; i < ALL; i++) {
        const char *text = meaning_text(&all[i].finding, &options);
        cr_expect(!strncmp(text, all[i].means, strlen(all[i].means)), "%s", text);
        cr_expect(!i || meaning_rank(&all[i - 1].finding) < meaning_rank(&all[i].finding), "%s", text);
    }
}

Test(meaning, a_missing_barrier_is_not_taken_for_a_missing_wait)
{
    const struct simt_finding copy = { .kind = SIMT_COPY_PENDING,
                                       .here = AT(1, 1, READS, THREAD),
                                       .there = AT(2, 2, WRITES, CP_ASYNC) };
    const struct simt_finding race = { .kind = SIMT_RACE,
                                       .here = AT(1, 1, READS, THREAD),
                                       .there = AT(2, 2, WRITES, THREAD) };
    cr_expect_eq(meaning_rank(&copy), meaning_rank(&race));
    cr_expect(strstr(meaning_text(&copy, &options), "or the barrier behind the wait"));
}

Test(meaning, a_copy_that_was_waited_for_before_the_barrier_is_known_by_its_instruction)
{
    struct simt_finding race = { .kind = SIMT_RACE,
                                 .here = AT(1, 1, READS, THREAD),
                                 .there = AT(2, 2, WRITES, THREAD) };
    race.there.instruction = "cp.async.cg.shared.global";
    cr_expect(strstr(meaning_text(&race, &options), "first the wait, then the barrier"));
    race.there.instruction = "st.shared.v4.u32";
    cr_expect(!strstr(meaning_text(&race, &options), "the wait"));
}

// The line that is raced with reads bytes that nothing has written, too: whichever side it is, but no other line.
Test(meaning, a_race_with_an_unwritten_stage_is_known)
{
    struct simt_finding found[] = {
        { .kind = SIMT_RACE, .here = AT(1, 1, READS, THREAD), .there = AT(2, 2, WRITES, THREAD) },
        { .kind = SIMT_UNINIT_MEMORY, .here = AT(1, 3, READS, THREAD) },
    };
    const struct simt_findings all = { .all = found, .n = 2 };
    found[0].object.space = found[1].object.space = SIMT_SHARED;
    cr_expect_eq(meaning_unwritten_stage(&found[0], &all), &found[1]);
    const struct simt_side here = found[0].here;
    found[0].here = found[0].there;
    found[0].there = here;
    cr_expect_eq(meaning_unwritten_stage(&found[0], &all), &found[1]);
    found[1].here.place.line = 3;
    cr_expect_eq(meaning_unwritten_stage(&found[0], &all), NULL);
}

Test(meaning, one_line_that_is_called_from_two_may_lack_a_barrier)
{
    struct simt_finding race = { .kind = SIMT_RACE,
                                 .here = AT(1, 1, WRITES, THREAD),
                                 .there = AT(1, 2, WRITES, THREAD) };
    cr_expect(strstr(meaning_text(&race, &options), "the index on this line is wrong"));
    race.here.place.caller_file = race.there.place.caller_file = "kernel.cu";
    race.here.place.caller = 5, race.there.place.caller = 6;
    cr_expect(strstr(meaning_text(&race, &options), "a barrier is missing"));
}

Test(meaning, two_arrays_on_two_lines_may_overlap)
{
    struct scratch file;
    cr_assert(
        scratch_open(&file, "kernel.cu",
                     "ldmatrix(a[i], &As[stage + ai]);\n*reinterpret_cast<half8 *>(&Bs[bi]) = b;\nput(&As[stage]);\n"));
    struct simt_finding race = { .kind = SIMT_RACE,
                                 .here = { .place = { .file = file.path, .line = 1 } },
                                 .there = { .place = { .file = file.path, .line = 2 } },
                                 .object = { .space = SIMT_SHARED, .name = "shared" } };
    cr_expect(strstr(meaning_text(&race, &options), "overlap by mistake"));
    race.here.access = race.there.access = SIMT_WRITES;
    cr_expect(!strncmp(meaning_text(&race, &options), "two arrays overlap", 18));
    race.there.place.line = 3;
    cr_expect(!strstr(meaning_text(&race, &options), "overlap"));
    scratch_close(&file);
}

// Who still reads is said, where it is no thread.
Test(meaning, of_a_race_names_who_is_not_waited_for)
{
    const struct {
        struct simt_finding finding;
        const char *means;
    } some[] = {
        { { .kind = SIMT_RACE, .here = AT(1, 1, WRITES, THREAD), .there = AT(2, 2, READS, WGMMA) },
          "a wgmma may still read these bytes" },
        { { .kind = SIMT_RACE, .here = AT(1, 1, WRITES, THREAD), .there = AT(2, 2, READS, BULK_COPY) },
          "a bulk store may still read these bytes" },
        { { .kind = SIMT_COPIES_OVERLAP, .here = AT(1, 1, WRITES, BULK_COPY), .there = AT(1, 1, WRITES, BULK_COPY) },
          "two copies write to the same bytes" },
    };
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        cr_expect(strstr(meaning_text(&some[i].finding, &options), some[i].means), "%s",
                  meaning_text(&some[i].finding, &options));
}
