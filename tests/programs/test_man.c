// The man pages have the options and commands that --help lists, and no others. SIMT, LADDER, SIMT_1 and LADDER_1 are
// paths that the build defines.
#include <criterion/criterion.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "program_case.h"

enum { WORDS = 128, WORD = 64 };

// What a text lists: "--grid X,Y,Z", "--by-line", "inspect".
struct list {
    char words[WORDS][WORD];
    int n;
};

static void add(struct list *l, const char *word, int length, const char *value, int value_length)
{
    cr_assert(l->n < WORDS && length + value_length + 2 < WORD, "%.*s", length, word);
    snprintf(l->words[l->n++], WORD, "%.*s%s%.*s", length, word, value_length ? " " : "", value_length, value);
}

static int word(const char *text)
{
    return (int)strcspn(text, " \n");
}

// A line of --help that lists something begins with two spaces and its name. One space, and an option's value follows;
// two, and the explanation does.
static void read_help(struct list *l, const char *program)
{
    static struct run r;
    run(&r, program, "--help", NULL);
    cr_assert(r.status == 0, "%s: exit status %d: %s", program, r.status, r.err);
    for (const char *line = r.out; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        const char *name = line + 2, *rest = name + word(name);
        if (strncmp(line, "  ", 2))
            continue;
        if (!strncmp(name, "--", 2))
            add(l, name, word(name), rest + 1, rest[0] == ' ' && rest[1] != ' ' ? word(rest + 1) : 0);
        else if (islower((unsigned char)*name) && (int)strspn(name, "abcdefghijklmnopqrstuvwxyz") == word(name) &&
                 !strncmp(rest, "  ", 2))
            add(l, name, word(name), "", 0);
    }
}

// In a man page: ".It Fl -grid Ar X,Y,Z", ".It Cm inspect".
static void read_page(struct list *l, const char *path)
{
    char line[512];
    FILE *f = fopen(path, "r");
    cr_assert(f, "%s cannot be read", path);
    while (fgets(line, sizeof line, f)) {
        char name[WORD] = "", value[WORD] = "";
        if (sscanf(line, ".It Fl -%61s Ar %63s", name + 2, value) >= 1)
            memcpy(name, "--", 2);
        else if (sscanf(line, ".It Cm %63s", name) != 1)
            continue;
        add(l, name, (int)strlen(name), value, (int)strlen(value));
    }
    fclose(f);
}

static void expect_all(const struct list *in, const struct list *of, const char *what)
{
    for (int i = 0; i < of->n; i++) {
        bool found = false;
        for (int k = 0; k < in->n; k++)
            found = found || !strcmp(in->words[k], of->words[i]);
        cr_expect(found, "%s lacks \"%s\"", what, of->words[i]);
    }
}

static void same(const char *program, const char *page, int least)
{
    static struct list help, man;
    read_help(&help, program);
    read_page(&man, page);
    cr_assert(help.n >= least, "%d options in %s --help", help.n, program);
    expect_all(&man, &help, page);
    expect_all(&help, &man, "--help");
    cr_expect_eq(man.n, help.n, "%s lists %d, --help %d", page, man.n, help.n);
}

Test(man, simt_has_the_options_of_help)
{
    same(SIMT, SIMT_1, 30);
}

Test(man, ladder_has_the_options_of_help)
{
    same(LADDER, LADDER_1, 19);
}
