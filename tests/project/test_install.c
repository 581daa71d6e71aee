// What `meson install` leaves works by itself: simt, the ladder with its kernels, the man pages, the library. The build
// defines MESON, BUILD, and where things go: BIN, DATA, MAN and LIB. Also SIMT_1 and LADDER_1, the sources of the man
// pages; EXAMPLE_C, a program that uses the library; CC, the compiler of the build, and SANITIZE, its flag for
// sanitizers or nothing; CUDA_ADD, a CUDA program, where there is a runtime for such; CROSS, 1 if another machine than
// this one runs what is built.
#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program_case.h"
#include "tools/steps.h"

enum { ROOM = PATH_MAX, FUNCTIONS = 20 };  // FUNCTIONS: of the library

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

#ifdef CUDA_ADD
Test(installed, simt_runs_a_cuda_program)
{
    static struct run r;
    run(&r, in_root(BIN, "simt"), "exec", "check", CUDA_ADD, NULL);
    cr_expect(r.status == 0 && strstr(r.out, "0 wrong") && strstr(r.err, "1 launches were checked"),
              "exit status %d: %s%s", r.status, r.out, r.err);
}
#endif

Test(installed, man_pages_are_there)
{
    static struct run r;
    static const char *const pages[][2] = { { "simt.1", SIMT_1 }, { "ladder.1", LADDER_1 } };
    for (int i = 0; i < 2; i++) {
        run(&r, "/usr/bin/cmp", in_root(MAN "/man1", pages[i][0]), pages[i][1], NULL);
        cr_expect(r.status == 0, "%s: %s%s", pages[i][0], r.out, r.err);
    }
}

// --- The library ---

static bool is_there(const char *program)
{
    static struct run r;
    run(&r, "/bin/sh", "-c", "command -v \"$0\"", program, NULL);
    return r.status == 0;
}

// Compiles the example with pkg-config's answer, and runs it. pkg-config does not quote a blank in
// PKG_CONFIG_SYSROOT_DIR, so the tree gets a name without one.
static void builds_and_runs(const char *compiler, const char *flags, const char *options)
{
    static struct run r;
    char link[] = "/tmp/gemm-steps-XXXXXX", command[4 * ROOM];
    if (!is_there("pkg-config"))
        cr_skip_test("there is no pkg-config");
    cr_assert(mkdtemp(link) && !rmdir(link) && !symlink(root, link), "%s", link);
    snprintf(
        command, sizeof command,
        "PKG_CONFIG_PATH=%s%s/pkgconfig PKG_CONFIG_SYSROOT_DIR=%s && export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR && "
        "%s " SANITIZE " %s \"$0\" $(pkg-config %s --cflags --libs gemm-steps) -o %s/example",
        link, LIB, link, compiler, flags, options, link);
    run(&r, "/bin/sh", "-c", command, EXAMPLE_C, NULL);
    unlink(link);
    cr_assert(r.status == 0, "%s: exit status %d: %s%s", command, r.status, r.out, r.err);
    setenv("LD_LIBRARY_PATH", in_root(LIB, ""), 1);
    run(&r, in_root("", "example"), NULL);
    cr_expect(r.status == 0 && strstr(r.out, "   4    5   20\n  12   13   52\n"), "exit status %d: %s%s", r.status,
              r.out, r.err);
}

// Whether the example needs the shared library to run. ldd would not answer for another machine's programs.
static bool is_shared(void)
{
    static struct run r;
    run(&r, "/bin/sh", "-c", "LC_ALL=C readelf -d \"$0\"", in_root("", "example"), NULL);
    cr_assert_eq(r.status, 0, "%s", r.err);
    return strstr(r.out, "[libgemm-steps.so.0]") != NULL;
}

Test(installed, example_links_with_the_shared_library)
{
    builds_and_runs(CC, "-std=c11 -Wall -Wextra -Werror -pedantic", "");
    cr_expect(is_shared());
}

Test(installed, example_links_with_the_static_library)
{
    cr_assert_eq(unlink(in_root(LIB, "libgemm-steps.so")), 0);
    builds_and_runs(CC, "-std=c11", "--static");
    cr_expect(!is_shared());
}

Test(installed, example_is_also_a_cpp_program)
{
    if (*SANITIZE || CROSS || !is_there("c++"))
        cr_skip_test("there is no C++ compiler for this machine, or it may have other sanitizers");
    builds_and_runs("c++", "-x c++ -Wall -Wextra -Werror", "");
    cr_expect(is_shared());
}

// A program that links with the library keeps all names but gemm_steps_* for itself.
Test(installed, library_shows_its_own_names_alone)
{
    static struct run r;
    if (!is_there("nm"))
        cr_skip_test("there is no nm");
    static const char *const commands[] = { "nm -D --defined-only \"$0/libgemm-steps.so\"",
                                            "nm -g --defined-only \"$0/libgemm-steps.a\"" };
    for (int i = 0; i < 2; i++) {
        run(&r, "/bin/sh", "-c", commands[i], in_root(LIB, ""), NULL);
        int n = 0;
        for (char *line = strtok(r.out, "\n"); line; line = strtok(NULL, "\n")) {
            const char *name = strrchr(line, ' ');
            if (!name)
                continue;  // the name of an object file
            cr_expect(!strncmp(name + 1, "gemm_steps_", strlen("gemm_steps_")), "%s: %s", commands[i], name + 1);
            n++;
        }
        cr_expect_eq(n, FUNCTIONS, "%s: %d names", commands[i], n);
    }
}
