// The rooms of common/ and common/simt/: includes go to the same room or to one before it, and never round. COMMON is
// the folder common, whose meson.build files have the order.
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
