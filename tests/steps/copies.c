// See copies.h.
#include "copies.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "file_text.h"

#define COPY "cp.async.cg.shared.global ["

static struct scratch file;

// Cell number `want` of a line of quoted cells, from 0 on; "" where there is none.
static void cell_of(const char *line, size_t want, char out[256])
{
    size_t n = 0;
    *out = '\0';
    for (; *line == '"'; line += *line == ',') {
        const char *end = strchr(++line, '"');
        if (!end)
            return;
        if (n++ == want) {
            snprintf(out, 256, "%.*s", (int)(end - line), line);
            return;
        }
        line = end + 1;
    }
}

enum { NO_COLUMN = 1000 };

// The number of the column with this title, in a header; NO_COLUMN if it has none.
static size_t column_of(const char *header, const char *title)
{
    char cell[256];
    for (size_t i = 0; i < NO_COLUMN; i++) {
        cell_of(header, i, cell);
        if (!strcmp(cell, title))
            return i;
        if (!*cell)
            break;
    }
    return NO_COLUMN;
}

struct copies copies_read(const char *page)
{
    struct copies c = { 0 };
    const char *header = strstr(page, "\"Source\"");
    cr_assert(header, "no table in:\n%.1000s", page);
    while (header > page && header[-1] != '\n')
        header--;
    const size_t source = column_of(header, "Source"), waves = column_of(header, "L1 Wavefronts Shared");
    cr_assert_neq(source, NO_COLUMN);
    for (const char *line = strchr(header, '\n'); line; line = strchr(line, '\n')) {
        char code[256], count[256];
        cell_of(++line, source, code);
        if (!strstr(code, "LDGSTS"))
            continue;
        cr_assert_neq(waves, NO_COLUMN, "no wavefronts of shared memory in %.200s",
                      header);  // without, ncu has no column
        cell_of(line, waves, count);
        cr_assert_lt(c.n, COPIES_MAX);
        c.zeros[c.n] = strstr(code, ".BYPASS") && strstr(code, ", P0, ");
        c.n_zeros += c.zeros[c.n++];
        c.waves += strtoull(count, NULL, 10);
    }
    return c;
}

const char *copies_edit(const char *ptx, const struct copies *c)
{
    char *text = file_text(ptx), *at = text;
    size_t n = 0;
    FILE *out = scratch_open(&file, "k.ptx", NULL) ? fopen(file.path, "w") : NULL;
    cr_assert(out, "no file %s", file.path);
    for (char *copy; (copy = strstr(at, COPY)); n++) {
        char *end = strchr(copy, ';'), *size = end;
        cr_assert(end && n < c->n, "%s has more than the %zu copies of the machine code", ptx, c->n);
        while (size[-1] != ' ')
            size--;
        fprintf(out, "%.*s%.*s", (int)(size - at), at, c->zeros[n] ? 1 : (int)(end - size), c->zeros[n] ? "0" : size);
        at = end;
    }
    fputs(at, out);
    fclose(out);
    free(text);
    cr_assert_eq(n, c->n, "%s has %zu copies, the machine code %zu", ptx, n, c->n);
    return file.path;
}

void copies_forget(void)
{
    scratch_close(&file);
}

bool copies_matter(const char *metric)
{
    return !strncmp(metric, "memory_l1_wavefronts_shared", 27) ||
           !strcmp(metric, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum");
}
