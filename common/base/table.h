// Tables in text files: a header with the names of the columns, then rows with as many fields. Fields are parted by
// commas, and one may stand in double quotes; in a file whose name ends with .tsv they are parted by tabs.
//
//   struct table t;
//   bool more, ok = table_open(&t, "times.csv", error);
//   while (ok && (ok = table_next(&t, &more)) && more)
//       puts(t.field[0]);
//   table_close(&t);
//
// tools/table.c prints any of them as JSON, so that no other language has to read them.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/device.h"

struct table {
    const char *path;
    unsigned line;  // of the row in the file, from 1; the header is line 1
    size_t columns;
    char **name;   // of each column
    char **field;  // of the row that table_next read
    char *header;  // line 1, as it stands there
    // private
    FILE *file;
    char *names, *row;  // what name and field point into
    size_t room;        // bytes of row
    char *error;
};

// Opens the table and reads its header. path and error have to live as long as the table. On failure returns false,
// with one line in error. table_close may follow in either case.
bool table_open(struct table *t, const char *path, char error[DEV_ERROR_MAX]);

// Reads the next row. *more is false at the end of the table. On failure, as for a row that has another number of
// fields, returns false, with one line in error that names the file and the line.
bool table_next(struct table *t, bool *more);

// Says in error what is wrong in this line; returns false.
__attribute__((format(printf, 2, 3))) bool table_refuse(const struct table *t, const char *format, ...);

// Closes the file and frees what the table holds.
void table_close(struct table *t);
