// What common/README.md names is there: each file, each folder that it links to, each function, type or table. COMMON
// is the folder common, ROOT the project.
#include <criterion/criterion.h>

#include <fnmatch.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "file_text.h"

enum { FILES = 2000, NAME = 200 };

static struct {
    char *path, *text;
} files[FILES];
static size_t n_files;

static int keep(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status, (void)place;
    if (type != FTW_F || !strcmp(path, COMMON "/README.md"))
        return 0;
    cr_assert_lt(n_files, FILES);
    files[n_files].path = strdup(path);
    files[n_files++].text = file_text(path);
    return 0;
}

static void read_files(void)
{
    cr_assert_eq(nftw(COMMON, keep, 16, FTW_PHYS), 0);
    cr_assert_eq(nftw(ROOT "/tests", keep, 16, FTW_PHYS), 0);
}

static bool is_file(const char *name)
{
    char pattern[NAME + 2];
    snprintf(pattern, sizeof pattern, "*/%s", name);
    for (size_t i = 0; i < n_files; i++)
        if (!fnmatch(pattern, files[i].path, 0))
            return true;
    return false;
}

static bool is_in_a_file(const char *word)
{
    for (size_t i = 0; i < n_files; i++)
        if (strstr(files[i].text, word))
            return true;
    return false;
}

static bool ends_like_a_file(const char *name)
{
    static const char *const ends[] = { ".c", ".h", ".def", ".build", ".tsv", ".cu", ".cuh" };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t n = strlen(name), end = strlen(ends[i]);
        if (n > end && !strcmp(name + n - end, ends[i]))
            return true;
    }
    return false;
}

static bool is_there(const char *name)
{
    char path[sizeof ROOT + NAME + 1];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", ROOT, name);
    if (ends_like_a_file(name))
        return is_file(name);
    if (*name == '.')
        return !stat(path, &status);
    return strstr(name, " -") || strchr(name, ';') || is_in_a_file(name);  // not a command, and not the example
}

// Each text between begin and end on one line, by what is asked of it. Returns how many there are; wrong counts those
// that are not there.
static size_t look(const char *text, const char *begin, const char *end, bool (*there)(const char *), size_t *wrong)
{
    size_t n = 0;
    for (const char *p = strstr(text, begin), *q; p; p = strstr(q + strlen(end), begin)) {
        char name[NAME];
        p += strlen(begin);
        q = strstr(p, end);
        cr_assert(q && (size_t)(q - p) < sizeof name, "no end to: %.60s", p);
        snprintf(name, sizeof name, "%.*s", (int)(q - p), p);
        if (!there(name))
            fprintf(stderr, "common/README.md: %s is not there\n", name), ++*wrong;
        n++;
    }
    return n;
}

static bool is_folder(const char *link)
{
    char path[sizeof COMMON + NAME + 1];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", COMMON, link);
    return !stat(path, &status) && S_ISDIR(status.st_mode);
}

Test(common_readme, names_what_is_there)
{
    size_t wrong = 0;
    read_files();
    char *text = file_text(COMMON "/README.md");
    const size_t names = look(text, "`", "`", is_there, &wrong), links = look(text, "](", ")", is_folder, &wrong);
    cr_expect_geq(names, 50, "only %zu names", names);
    cr_expect_geq(links, 14, "only %zu links", links);
    cr_expect_eq(wrong, 0, "%zu of %zu are not there: see the lines above", wrong, names + links);
}

Test(common_readme, would_be_caught_if_it_named_what_is_not)
{
    size_t wrong = 0;
    read_files();
    const char text[] = "`no_such_file.c` `exec/no_*.c` `no_such_"
                        "function` `exec.h` `alu.def` [a](simt/nowhere) [b](simt)";
    cr_expect_eq(look(text, "`", "`", is_there, &wrong), 5);
    cr_expect_eq(wrong, 3);
    cr_expect_eq(look(text, "](", ")", is_folder, &wrong), 2);
    cr_expect_eq(wrong, 4);
}
