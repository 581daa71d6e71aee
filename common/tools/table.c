// Prints a table as JSON on stdout, for programs in other languages:
//   build/table steps/results/h200_trials.csv
//   {"path": "...", "columns": ["id", "device", ...], "rows": [["ffma", "NVIDIA H200", ...], ...]}
// A field is a string, as it stands in the file. rows[0] is line 2 of the file.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/options.h"
#include "base/table.h"

static void print_fields(struct json *j, const char *key, const struct table *t, char **field)
{
    json_array(j, key);
    for (size_t i = 0; i < t->columns; i++)
        json_string(j, NULL, field[i]);
    json_end(j);
}

static bool print_table(struct table *t, char error[DEV_ERROR_MAX])
{
    struct json j;
    bool more, ok;
    json_open(&j, stdout);
    json_object(&j, NULL);
    json_string(&j, "path", t->path);
    print_fields(&j, "columns", t, t->name);
    json_array(&j, "rows");
    while ((ok = table_next(t, &more)) && more)
        print_fields(&j, NULL, t, t->field);
    json_end(&j);
    json_end(&j);
    if (!ok || json_close(&j))
        return ok;
    return error_set(error, "standard output: cannot write it: %s", strerror(errno));
}

int main(int argc, char **argv)
{
    static const struct option_row none[] = { { 0 } };
    static const struct options options = {
        .program = "table",
        .usage = "FILE\nPrints a table, FILE.csv or FILE.tsv, as JSON.",
        .rows = none,
        .least = 1,
        .most = 1,
        .needs = "one table is needed: table FILE.csv, or FILE.tsv",
    };
    char error[DEV_ERROR_MAX];
    struct table t = { 0 };
    int status;
    if (!options_begin(&options, NULL, &argc, &argv, &status))
        return status;
    const bool ok = table_open(&t, argv[0], error) && print_table(&t, error);
    table_close(&t);
    if (!ok)
        fprintf(stderr, "table: %s\n", error);
    return ok ? 0 : 2;
}
