// common/compile_ptx.sh: which paths it replaces in the list of files that a compiler writes. COMPILE_PTX is its path.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "program_case.h"

static struct scratch file;
static const char *const list = file.path;

static void make_list(void)
{
    cr_assert(scratch_open(&file, "list", ""));
}

static void remove_list(void)
{
    scratch_close(&file);
    forget_scratch();
}

TestSuite(compile_ptx, .init = make_list, .fini = remove_list);

// In place of a compiler cp writes the list.
static void replaces(const char *folder, const char *way, const char *before, const char *after)
{
    static struct run r;
    run(&r, "/bin/sh", COMPILE_PTX, folder, way, list, "cp", scratch(before, strlen(before)), list, NULL);
    cr_assert_eq(r.status, 0, "%s", r.err);
    char *text = file_read(list);
    cr_assert(text, "%s", list);
    cr_expect_str_eq(text, after);
    free(text);
}

Test(compile_ptx, names_the_files_of_the_course_from_the_build_folder)
{
    replaces("/home/me/course", "..",
             "a.ptx : /home/me/course/a.cu /usr/include/b.h \\\n    /home/me/course/c.cuh /home/me/course/d.cuh\n",
             "a.ptx : ../a.cu /usr/include/b.h \\\n    ../c.cuh ../d.cuh\n");
}

Test(compile_ptx, knows_a_folder_whose_name_has_blanks)
{
    replaces("/home/me/R & D #1", "..", "a.ptx: /home/me/R\\ &\\ D\\ \\#1/a.cu\n/home/me/R\\ &\\ D\\ \\#1/b.cuh:\n",
             "a.ptx: ../a.cu\n../b.cuh:\n");
}

Test(compile_ptx, leaves_other_paths_and_what_it_wrote_itself)
{
    replaces("/src", "../../src", "a.ptx: /src/a.cu /usr/src/b.h /src2/c.h\n",
             "a.ptx: ../../src/a.cu /usr/src/b.h /src2/c.h\n");
}

Test(compile_ptx, fails_as_the_compiler_fails)
{
    static struct run r;
    run(&r, "/bin/sh", COMPILE_PTX, "/src", "..", list, "cp", "/nonexistent/a", list, NULL);
    cr_expect(r.status != 0 && strstr(r.err, "/nonexistent/a"), "exit status %d: %s", r.status, r.err);
}

// In place of a compiler sh prints what one says, and fails.
static void says(const char *compiler, const char *text, const char *left)
{
    static struct run r;
    char script[2048];
    snprintf(script, sizeof script, "cat >&2 <<'END'\n%sEND\nexit 2\n", text);
    run(&r, "/bin/sh", COMPILE_PTX, "/src", "..", list, "sh", scratch(script, strlen(script)), NULL);
    cr_expect_eq(r.status, 2, "%s: %d", compiler, r.status);
    cr_expect_str_eq(r.err, left, "%s: %s", compiler, r.err);
}

#define NVCC "k.cu(11): error: static assertion failed with \"whole tiles\"\n  static_assert(BK == 8);\n  ^\n"
#define CLANG "k.cu:11:1: error: static_assert failed due to 'BK == 8' \"whole tiles\"\nstatic_assert(BK == 8);\n^\n"
#define LEFT "The errors that follow from this are left out.\n"

Test(compile_ptx, shows_the_static_assert_in_place_of_what_follows_from_it)
{
    says("nvcc",
         NVCC "\nk.cu(37): error: zero-sized variable\n    float4 a[BK / 8];\n           ^\n\n2 errors detected.\n",
         NVCC LEFT);
    says("clang", CLANG "k.cu:37:5: error: division by zero\n  a\n  ^\n2 errors generated when compiling for sm_75.\n",
         CLANG LEFT);
    says("one", NVCC "\n1 error detected in the compilation of \"k.cu\".\n", NVCC);
    says("others", "k.cu(3): error: expected a \";\"\n\n1 error detected.\n",
         "k.cu(3): error: expected a \";\"\n\n1 error detected.\n");
}
