// The check of launches that begin before the one before them has ended (dev_launch.early): what that one wrote may be
// used behind griddepcontrol.wait.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "found.h"
#include "ptx_case.h"

enum { THREADS = 64, BYTES = THREADS * 4 };

#define KERNEL(name)                                                                                                   \
    ".visible .entry " name "(.param .u64 out, .param .u64 in)\n{\n"                                                   \
    ".reg .b32 r<4>; .reg .b64 l<4>; .reg .pred p;\n"                                                                  \
    "ld.param.u64 l0, [out]; ld.param.u64 l1, [in]; mov.u32 r0, %tid.x; setp.gt.u32 p, r0, 4000;\n"                    \
    "mul.wide.u32 l2, r0, 4; add.u64 l0, l0, l2; add.u64 l1, l1, l2;\n"

#define LOAD "ld.global.u32 r1, [l1];\n"
#define STORE "st.global.u32 [l0], r1;\n"
#define WAIT "griddepcontrol.wait;\n"
#define END "ret;\n}\n"

// plain: copies. after: waits, and copies. before: copies, and waits. never: the same, and no thread waits.
static const char text[] = PTX_SM_90 KERNEL("plain") LOAD STORE END KERNEL("after") WAIT LOAD STORE END KERNEL("before")
    LOAD STORE WAIT END KERNEL("never") LOAD STORE "@p " WAIT END;

struct place {
    const char *name;
    dev_ptr at;
};

static bool run(struct dev *d, struct dev_module *m, const char *name, dev_ptr out, dev_ptr in, bool early)
{
    const struct dev_arg args[] = { DEV_ARG(out), DEV_ARG(in) };
    const struct dev_launch l = { .grid = { 1 }, .block = { THREADS }, .args = args, .n_args = 2, .early = early };
    struct dev_kernel *k = dev_kernel(d, m, name);
    cr_assert(k, "%s", dev_error(d));
    return dev_launch(d, k, &l);
}

// Is nothing found, or (want) that alone?
static void expect_found(struct dev *d, const struct found *want)
{
    const struct simt_findings *f = dev_findings(d);
    cr_expect_eq(f->n, want ? 1 : 0, "%s", found_text(f));
    if (want)
        found_expect(f, want, text);
}

static const struct found reads_second = { .kind = SIMT_LAUNCH_BEFORE, HERE(0, ANY, READS), OF("second", 0) };

struct world {
    struct dev *d;
    struct dev_module *m;
    dev_ptr a, b, c;
};

static void begin(struct world *w)
{
    static const uint32_t zeros[THREADS];
    w->d = ptx_simulator();
    w->m = dev_load_text(w->d, "test.ptx", text, sizeof text - 1);
    cr_assert(w->m, "%s", dev_error(w->d));
    dev_set_checks(w->d, true);
    struct place all[] = { { "first", 0 }, { "second", 0 }, { "third", 0 } };
    for (int i = 0; i < 3; i++)
        cr_assert(dev_alloc(w->d, all[i].name, BYTES, &all[i].at) && dev_upload(w->d, all[i].at, zeros, BYTES), "%s",
                  dev_error(w->d));
    w->a = all[0].at, w->b = all[1].at, w->c = all[2].at;
}

// The first launch writes `second`; then one that reads it.
static void expect(const char *name, bool early, bool sync, const struct found *want)
{
    struct world w;
    begin(&w);
    cr_assert(run(w.d, w.m, "plain", w.b, w.a, false));
    cr_assert(!sync || dev_sync(w.d));
    cr_assert(run(w.d, w.m, name, w.c, w.b, early), "%s", dev_error(w.d));
    expect_found(w.d, want);
    dev_close(w.d);
}

Test(check_launch, what_the_launch_before_wrote_is_read_behind_a_wait)
{
    expect("after", true, false, NULL);
    expect("before", true, false, &reads_second);
}

Test(check_launch, a_launch_that_does_not_begin_early_need_not_wait)
{
    expect("before", false, false, NULL);
    expect("before", true, true, NULL);  // the host has waited
    expect("plain", true, false, NULL);  // it has no griddepcontrol.wait, and is not begun early
}

Test(check_launch, other_memory_may_be_used_at_once)
{
    struct world w;
    begin(&w);
    cr_assert(run(w.d, w.m, "plain", w.b, w.a, false));
    cr_assert(run(w.d, w.m, "before", w.c, w.a, true));
    expect_found(w.d, NULL);
    cr_assert(run(w.d, w.m, "before", w.c, w.a, true));
    expect_found(w.d, SUCH(SIMT_LAUNCH_BEFORE, HERE(0, ANY, WRITES), OF("third", 0)));
    dev_close(w.d);
}

// A launch waits for the one before it, and not for others, unless that one has waited.
Test(check_launch, a_wait_reaches_older_launches_if_the_one_between_has_waited)
{
    static const char *const between[] = { "before", "never" };
    for (int i = 0; i < 2; i++) {
        struct world w;
        begin(&w);
        cr_assert(run(w.d, w.m, "plain", w.b, w.a, false));
        cr_assert(run(w.d, w.m, between[i], w.c, w.a, true));
        expect_found(w.d, NULL);
        cr_assert(run(w.d, w.m, "after", w.a, w.b, true));
        expect_found(w.d, i ? &reads_second : NULL);
        dev_close(w.d);
    }
}
