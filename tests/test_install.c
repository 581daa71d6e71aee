// What `meson install` leaves works by itself: simt, the ladder with its kernels, the man pages. The build defines
// MESON, BUILD, and where things go: BIN, DATA and MAN. Also SIMT_1 and LADDER_1, the sources of the man pages.
#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program_case.h"
#include "../steps/steps.h"

enum { ROOM = PATH_MAX };

static char root[ROOM];  // DESTDIR

static void install(void)
{
    static struct run r;
    strcpy(root, "/tmp/gemm-steps & XXXXXX");
    cr_assert(mkdtemp(root), "%s", root);
    run(&r, MESON, "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", root, NULL);
    cr_assert(r.status == 0, "exit status %d: %s%s", r.status, r.out, r.err);
    cr_assert_eq(chdir("/"), 0);  // nothing is found by way of the folder that the user is in
}

static void remove_all(void)
{
    static struct run r;
    if (root[0])
        run(&r, "/bin/rm", "-rf", root, NULL);
}

TestSuite(installed, .init = install, .fini = remove_all);

static const char *in_root(const char *folder, const char *name)
{
    static char path[4][ROOM];
    static int next;
    char *p = path[next++ % 4];
    cr_assert(snprintf(p, ROOM, "%s%s/%s", root, folder, name) < ROOM);
    return p;
}

static void climbs(struct run *r)
{
    run(r, in_root(BIN, "ladder"), "--device=sim", "--size", "16", "--no-predict", NULL);
    cr_expect(r->status == 0, "exit status %d: %s%s", r->status, r->out, r->err);
    for (size_t i = 0; i < n_steps; i++) {
        const char *row = strstr(r->out, steps[i]->name);
        cr_expect(row && strstr(row, " right ") && strstr(row, " right ") < strchr(row, '\n'), "%s: %s", steps[i]->name,
                  r->out);
    }
}

Test(installed, ladder_climbs_with_its_own_kernels)
{
    static struct run r;
    climbs(&r);
    const char *kernel = in_root(DATA, "01_naive.ptx");
    cr_assert_eq(unlink(kernel), 0, "%s", kernel);
    run(&r, in_root(BIN, "ladder"), "--device=sim", "--size", "16", "--no-predict", NULL);
    cr_expect_eq(r.status, 2);
    cr_expect(strstr(r.out, "gemm-steps/01_naive.ptx: No such file or directory"), "the kernel came from elsewhere: %s",
              r.out);
}

Test(installed, ladder_still_climbs_when_the_tree_is_moved)
{
    static struct run r;
    char before[ROOM];
    strcpy(before, root);
    strcpy(root, "/tmp/gemm-steps moved XXXXXX");
    cr_assert(mkdtemp(root) && !rename(before, root), "%s", root);
    climbs(&r);
}

Test(installed, simt_reads_a_kernel)
{
    static struct run r;
    run(&r, in_root(BIN, "simt"), "inspect", in_root(DATA, "01_naive.ptx"), NULL);
    cr_expect(r.status == 0 && strstr(r.out, "gemm"), "exit status %d: %s%s", r.status, r.out, r.err);
}

Test(installed, man_pages_are_there)
{
    static struct run r;
    static const char *const pages[][2] = { { "simt.1", SIMT_1 }, { "ladder.1", LADDER_1 } };
    for (int i = 0; i < 2; i++) {
        run(&r, "/usr/bin/cmp", in_root(MAN "/man1", pages[i][0]), pages[i][1], NULL);
        cr_expect(r.status == 0, "%s: %s%s", pages[i][0], r.out, r.err);
    }
}
