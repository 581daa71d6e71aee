// Tests of base/table and of tools/table, which prints a table as JSON: what a field is, and which tables are refused.
// TABLE is the program.
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/table.h"

static struct scratch file;

static void remove_file(void)
{
    scratch_close(&file);
}

TestSuite(table, .fini = remove_file);

static const char *written(const char *name, const char *text)
{
    remove_file();
    cr_assert(scratch_open(&file, name, text));
    return file.path;
}

// All rows as one text: [field][field] and ; at the end of each.
static bool all_rows(const char *file, char *to, size_t size, char error[DEV_ERROR_MAX])
{
    struct table t;
    size_t n = 0;
    bool more, ok = table_open(&t, file, error);
    *to = '\0';
    while (ok && (ok = table_next(&t, &more)) && more) {
        for (size_t i = 0; i < t.columns; i++)
            n += (size_t)snprintf(to + n, size - n, "[%s]", t.field[i]);
        n += (size_t)snprintf(to + n, size - n, "@%u;", t.line);
    }
    table_close(&t);
    return ok;
}

Test(table, has_fields_between_commas_and_a_comma_may_stand_in_quotes)
{
    char rows[200], error[DEV_ERROR_MAX];
    written("a.csv", "id,what,n\r\nx,\"one, two\",3\n,\"\",\ny,tab\there,-1.5\n");
    cr_assert(all_rows(file.path, rows, sizeof rows, error), "%s", error);
    cr_expect_str_eq(rows, "[x][one, two][3]@2;[][][]@3;[y][tab\there][-1.5]@4;");
}

Test(table, of_a_tsv_file_has_fields_between_tabs_and_quotes_mean_nothing)
{
    char rows[200], error[DEV_ERROR_MAX];
    written("a.tsv", "id\twhat\nx\t\"one, two\n\t\n");
    cr_assert(all_rows(file.path, rows, sizeof rows, error), "%s", error);
    cr_expect_str_eq(rows, "[x][\"one, two]@2;[][]@3;");
}

Test(table, names_its_columns_and_keeps_its_header)
{
    struct table t;
    char error[DEV_ERROR_MAX];
    cr_assert(table_open(&t, written("a.csv", "id,a b\nx,y\n"), error), "%s", error);
    cr_expect_eq(t.columns, 2);
    cr_expect_str_eq(t.name[0], "id");
    cr_expect_str_eq(t.name[1], "a b");
    cr_expect_str_eq(t.header, "id,a b");
    table_close(&t);
}

Test(table, that_cannot_be_read_is_one_line_with_its_place)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        { "", "a.csv: there are no rows in it" },
        { "id,n\n", "a.csv: there are no rows in it" },
        { "id,\"n, m\"\nx,y\n", "a.csv:1: the names of the columns cannot be read" },
        { "id,n\nx\n", "a.csv:2: not a row of this table, whose header is \"id,n\"" },
        { "id,n\nx,1\nx,1,2\n", "a.csv:3: not a row of this table" },
        { "id,n\nx,1\n\ny,1\n", "a.csv:3: not a row of this table" },
        { "id,n\n\"x,1\n", "a.csv:2: not a row of this table" },
        { "id,n\n\"x\"y,1\n", "a.csv:2: not a row of this table" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char rows[200], error[DEV_ERROR_MAX] = "";
        cr_expect(!all_rows(written("a.csv", cases[i].text), rows, sizeof rows, error), "accepted: %s", cases[i].text);
        cr_expect(strstr(error, cases[i].says), "%s: %s", cases[i].text, error);
        cr_expect(!strchr(error, '\n'), "%s", error);
    }
    char rows[200], error[DEV_ERROR_MAX];
    cr_expect(!all_rows("/nowhere.csv", rows, sizeof rows, error));
    cr_expect_str_eq(error, "/nowhere.csv: cannot read it: No such file or directory");
}

// --- the program ---

static int run_program(const char *argument, char said[1000])
{
    char command[300];
    snprintf(command, sizeof command, "exec 2>&1; '%s' %s", TABLE, argument);
    FILE *f = popen(command, "r");
    cr_assert_not_null(f);
    said[fread(said, 1, 999, f)] = '\0';
    return pclose(f) >> 8;
}

Test(table, is_printed_as_json)
{
    char said[1000], want[1000];
    written("a.csv", "id,what\nx,\"one, two\"\ny,a\\b\n");
    cr_expect_eq(run_program(file.path, said), 0, "%s", said);
    size_t n = 0;
    for (size_t i = 0; said[i]; i++)  // the layout does not matter here
        if (said[i] != '\n' && !(said[i] == ' ' && (i == 0 || said[i - 1] == '\n' || said[i - 1] == ' ')))
            said[n++] = said[i];
    said[n] = '\0';
    snprintf(want, sizeof want,
             "{\"path\": \"%s\",\"columns\": [\"id\",\"what\"],\"rows\": [[\"x\",\"one, two\"],[\"y\",\"a\\\\b\"]]}",
             file.path);
    cr_expect_str_eq(said, want);
}

Test(table, that_cannot_be_printed_is_one_line_and_status_2)
{
    char said[1000];
    written("a.csv", "id,n\n");
    cr_expect_eq(run_program(file.path, said), 2);
    cr_expect(strstr(said, "table: ") && strstr(said, "there are no rows in it"), "%s", said);
    cr_expect_eq(run_program("", said), 2);
    cr_expect_str_eq(said, "table: one table is needed: table FILE.csv, or FILE.tsv; --help lists the options\n");
    cr_expect_eq(run_program("/nowhere.csv", said), 2);
    cr_expect_str_eq(said, "table: /nowhere.csv: cannot read it: No such file or directory\n");
    written("a.csv", "id,n\nx,1\n");
    char full[100];
    snprintf(full, sizeof full, "%s > /dev/full", file.path);
    cr_expect_eq(run_program(full, said), 2);
    cr_expect_str_eq(said, "table: standard output: cannot write it: No space left on device\n");
}
