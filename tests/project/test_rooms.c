// The rooms of common/ and common/simt/: includes and symbols go to the same room or to one before it, and never round;
// what stands outside of common/simt knows simt/simt.h alone. COMMON is the folder common, whose meson.build files have
// the order, BUILD that of the build, and CC its compiler.
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_text.h"
#include "rooms.h"

TestSuite(rooms);

static struct rooms_result result;

Test(rooms, of_the_project_are_in_order)
{
    cr_assert(rooms_check(COMMON, &result));
    cr_assert(result.files > 150 && result.includes > 300, "only %zu files, %zu includes", result.files,
              result.includes);
    cr_assert_eq(result.wrong, 0, "%s", result.said);
}

Test(rooms, of_the_project_are_in_order_for_the_linker)
{
    cr_assert(rooms_check_symbols(COMMON, BUILD, &result));
    cr_assert(result.files > 150 && result.symbols > 1500, "only %zu objects, %zu symbols", result.files,
              result.symbols);
    cr_assert_eq(result.wrong, 0, "%s", result.said);
}

Test(rooms, of_the_simulated_gpu_have_one_door)
{
    cr_assert(rooms_check_door(COMMON "/..", "common/simt", "simt.h", &result));
    cr_assert(result.files > 300 && result.includes > 500, "only %zu files, %zu includes", result.files,
              result.includes);
    cr_assert_eq(result.wrong, 0, "%s", result.said);
}

// Otherwise a benchmark does not link, which only its user would see.
Test(rooms, have_every_benchmark_in_meson_build)
{
    char *listed = file_text(COMMON "/simt/clock/meson.build");
    for (size_t i = 0; i < 3; i++) {
        const char *folder = (const char *[]){ "bench", "bench/hopper", "bench/registers" }[i];
        char path[512], name[600];
        snprintf(path, sizeof path, COMMON "/simt/clock/%s", folder);
        DIR *d = opendir(path);
        cr_assert(d, "%s", path);
        for (struct dirent *e; (e = readdir(d));) {
            snprintf(name, sizeof name, "'%s/%s'", folder, e->d_name);
            cr_assert(e->d_name[0] == '.' || !strchr(e->d_name, '.') || strstr(listed, name), "%s is not built", name);
        }
        closedir(d);
    }
    free(listed);
}

// --- A small tree with something wrong ---

static char root[] = "/tmp/rooms_XXXXXX";

static void write_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *f = fopen(path, "w");
    cr_assert(f && fputs(text, f) >= 0 && !fclose(f));
}

static void make_folder(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    cr_assert(!mkdir(path, 0700));
}

// Two rooms, low and high, and two in high: in and out. All is right.
static void make_tree(void)
{
    cr_assert(mkdtemp(root));
    write_file("meson.build", "foreach room : ['low', 'high']\n");
    make_folder("low");
    write_file("low/meson.build", "# What all use.\n");
    write_file("low/a.h", "#include <stdio.h>\n");
    write_file("low/a.c", "#include \"a.h\"\n");
    make_folder("high");
    write_file("high/meson.build", "# What is built of it.\nforeach room : ['in', 'out']\n");
    make_folder("high/in");
    write_file("high/in/meson.build", "# First.\n");
    write_file("high/in/b.h", "#include \"low/a.h\"\n");
    write_file("high/in/b.c", "#include \"b.h\"\n");
    make_folder("high/out");
    write_file("high/out/meson.build", "# Last.\n");
    write_file("high/out/c.c", "#include \"high/in/b.h\"\n#include \"low/a.h\"\n");
}

static void remove_tree(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", root);
    cr_assert(!system(command));
}

// With text in place of the file's own, the check says so, and no more.
static void expect(const char *file, const char *text, const char *said)
{
    make_tree();
    if (file)
        write_file(file, text);
    cr_assert(rooms_check(root, &result));
    remove_tree();
    if (said)
        cr_assert(strstr(result.said, said) && result.wrong == 1, "%s: %s", file, result.said);
    else
        cr_assert_eq(result.wrong, 0, "%s", result.said);
}

Test(rooms, a_right_tree_passes)
{
    expect(NULL, NULL, NULL);
}

Test(rooms, an_include_of_a_later_room_is_found)
{
    expect("low/d.c", "#include \"high/in/b.h\"\n", "low/d.c includes high/in/b.h, of a later room");
}

Test(rooms, an_include_of_a_later_room_of_the_same_folder_is_found)
{
    expect("high/in/d.c", "#  include \"high/out/c.c\"\n", "high/in/d.c includes high/out/c.c, of a later room");
}

Test(rooms, a_cycle_within_a_room_is_found)
{
    expect("low/d.h", "#include \"e.h\"\n", "neither beside it");
    strcpy(root, "/tmp/rooms_XXXXXX");
    make_tree();
    write_file("low/d.h", "#include \"e.h\"\n");
    write_file("low/e.h", "");
    write_file("low/e.c", "#include \"d.h\"\n");  // only the unit goes round: d.h -> e.h, e.c -> d.h
    cr_assert(rooms_check(root, &result));
    remove_tree();
    cr_assert(result.wrong == 1 && strstr(result.said, "a cycle: low/e.c includes low/d.h; low/d.h includes low/e.h"),
              "%s", result.said);
}

Test(rooms, a_room_without_a_line_about_it_is_found)
{
    expect("high/out/meson.build", "", "high/out: its meson.build");
}

// --- The same tree for the linker ---

// Compiles the files, one of them with this text, as Meson would note it. The check of the objects says so, and no
// more.
static void expect_symbols(const char *file, const char *text, const char *said)
{
    static const char *const files[] = { "low/a", "low/d", "high/in/b", "high/out/c" };
    char command[512], list[2048] = "[\n";
    make_tree();
    write_file("low/a.c", "int low_a(void) { return 1; }\n");
    write_file("low/d.c", "int low_a(void);\nint low_d(void) { return low_a(); }\n");
    write_file("high/in/b.c", "int low_a(void);\nint high_b(void) { return low_a(); }\n");
    write_file("high/out/c.c", "int low_a(void);\nint high_c(void) { return low_a(); }\n");
    if (file)
        write_file(file, text);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(command, sizeof command, "cd %s && %s -c %s.c -o %s.o", root, CC, files[i], files[i]);
        cr_assert(!system(command), "%s", command);
        snprintf(list + strlen(list), sizeof list - strlen(list),
                 "  {\n    \"file\": \"%s.c\",\n    \"output\": \"%s.o\"\n  },\n", files[i], files[i]);
    }
    write_file("compile_commands.json", list);
    cr_assert(rooms_check_symbols(root, root, &result));
    remove_tree();
    cr_assert_eq(result.files, sizeof files / sizeof *files);
    cr_assert_eq(result.wrong, said != NULL, "%s", result.said);
    cr_assert(!said || strstr(result.said, said), "%s", result.said);
}

Test(rooms, right_objects_pass)
{
    expect_symbols(NULL, NULL, NULL);
    cr_assert_eq(result.symbols, 3);
}

Test(rooms, a_symbol_of_a_later_room_is_found)
{
    expect_symbols("low/d.c", "int high_b(void);\nint low_d(void) { return high_b(); }\n",
                   "low/d.c uses high_b of high/in/b.c, of a later room");
}

Test(rooms, a_symbol_of_a_later_room_of_the_same_folder_is_found)
{
    expect_symbols("high/in/b.c", "int high_c(void);\nint (*high_b)(void) = high_c;\n",
                   "high/in/b.c uses high_c of high/out/c.c, of a later room");
}

Test(rooms, objects_that_use_each_other_are_found)
{
    expect_symbols("low/a.c", "int low_d(void);\nint low_a(void) { return low_d(); }\n",
                   "a cycle: low/d.c uses low_a of low/a.c; low/a.c uses low_d of low/d.c");
}

// --- A door ---

static void expect_door(const char *file, const char *text, const char *said)
{
    cr_assert(mkdtemp(root));
    make_folder("common");
    make_folder("common/machine");
    write_file("common/machine/meson.build", "# What it is for.\nforeach room : ['gear']\n");
    write_file("common/machine/gear.c", "#include \"machine/gear.h\"\n");
    make_folder("steps");
    make_folder("tests");
    make_folder("tests/gear");
    make_folder("tests/support");
    write_file("tests/gear/test.c", "#include \"machine/gear/wheel.h\"\n");
    write_file("steps/step.c", "#include \"machine/door.h\"\n#include \"big_machine/gear.h\"\n");
    if (file)
        write_file(file, text);
    cr_assert(rooms_check_door(root, "common/machine", "door.h", &result));
    remove_tree();
    cr_assert_eq(result.wrong, said != NULL, "%s", result.said);
    cr_assert(!said || strstr(result.said, said), "%s", result.said);
}

Test(rooms, what_uses_the_door_passes)
{
    expect_door(NULL, NULL, NULL);
}

Test(rooms, an_include_past_the_door_is_found)
{
    expect_door("steps/step.c", "#include \"machine/gear/wheel.h\"\n",
                "steps/step.c includes machine/gear/wheel.h: only machine/door.h is for others");
}

Test(rooms, a_test_of_something_else_does_not_pass_the_door)
{
    expect_door("tests/support/case.h", "#include \"../../common/machine/gear.h\"\n",
                "tests/support/case.h includes ../../common/machine/gear.h");
}
