// The table of source lines, DWARF versions 2 to 4 (section 6.2 of the standard): a program for a small machine whose
// rows say that from an address on the code comes from a line of a file.
#include "cubin.h"

#include <stdlib.h>
#include <string.h>

struct reader {
    const unsigned char *p, *end;
};

static uint64_t take(struct reader *r, unsigned n)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < n && r->p < r->end; i++)
        value |= (uint64_t)*r->p++ << 8 * i;
    return value;
}

static uint64_t take_unsigned(struct reader *r)
{
    uint64_t value = 0;
    for (unsigned shift = 0; r->p < r->end; shift += 7) {
        const unsigned char byte = *r->p++;
        if (shift < 64)
            value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            break;
    }
    return value;
}

static int64_t take_signed(struct reader *r)
{
    const unsigned char *begin = r->p;
    const uint64_t value = take_unsigned(r);
    const unsigned bits = (unsigned)(r->p - begin) * 7;
    return bits && bits < 64 ? (int64_t)(value << (64 - bits)) >> (64 - bits) : (int64_t)value;
}

static const char *take_text(struct reader *r)
{
    const char *text = (const char *)r->p;
    while (r->p < r->end && *r->p)
        r->p++;
    if (r->p >= r->end)
        return "";
    r->p++;
    return text;
}

static void add_file(struct cubin *c, const char *directory, const char *name)
{
    char **files = realloc(c->files, (c->n_files + 1) * sizeof *files);
    const size_t size = (directory ? strlen(directory) : 0) + strlen(name) + 2;
    char *path = malloc(size);
    if (files)
        c->files = files;
    if (!files || !path) {
        free(path);
        return;
    }
    path[0] = 0;
    if (directory) {
        strcat(path, directory);
        strcat(path, "/");
    }
    strcat(path, name);
    c->files[c->n_files++] = path;
}

#define DIRECTORIES 256

static void read_files(struct cubin *c, struct reader *r)
{
    const char *directories[DIRECTORIES];
    unsigned n = 0;
    for (const char *text = take_text(r); *text; text = take_text(r))
        if (n < DIRECTORIES)
            directories[n++] = text;
    add_file(c, NULL, "");
    for (const char *text = take_text(r); *text; text = take_text(r)) {
        const uint64_t directory = take_unsigned(r);
        take_unsigned(r);
        take_unsigned(r);
        add_file(c, directory && directory <= n && *text != '/' ? directories[directory - 1] : NULL, text);
    }
}

struct state {
    uint64_t address;
    int64_t line;
    uint64_t file;
    size_t sequence;  // sequences begun so far
};

// From here on, until the next row, the code comes from this line.
static void emit(struct cubin *c, const struct state *s, size_t wanted)
{
    if (s->sequence != wanted + 1)
        return;
    for (uint64_t i = s->address / SASS_BYTES; i < c->n; i++) {
        c->code[i].line = (uint32_t)s->line;
        c->file[i] = s->file < c->n_files ? (uint16_t)s->file : 0;
    }
}

enum { EXTENDED, COPY, ADVANCE_PC, ADVANCE_LINE, SET_FILE, CONST_ADD_PC = 8, FIXED_ADVANCE_PC = 9 };
enum { END_SEQUENCE = 1, SET_ADDRESS = 2 };

struct machine {
    unsigned unit, range, base;
    int line_base;
    unsigned char operands[256];
};

static void extended(struct reader *r, struct state *s)
{
    const uint64_t n = take_unsigned(r);
    const unsigned char *next = (uint64_t)(r->end - r->p) < n ? r->end : r->p + n;
    const uint64_t code = take(r, 1);
    if (code == END_SEQUENCE) {
        *s = (struct state){ .line = 1, .file = 1, .sequence = s->sequence };
    } else if (code == SET_ADDRESS) {
        s->address = take(r, (unsigned)(n - 1));
        s->sequence++;
    }
    r->p = next;
}

static void run(struct cubin *c, struct reader *r, const struct machine *m, size_t wanted)
{
    struct state s = { .line = 1, .file = 1 };
    while (r->p < r->end) {
        const unsigned code = (unsigned)take(r, 1);
        if (code >= m->base) {
            s.address += (uint64_t)(code - m->base) / m->range * m->unit;
            s.line += m->line_base + (int)((code - m->base) % m->range);
            emit(c, &s, wanted);
        } else if (code == EXTENDED) {
            extended(r, &s);
        } else if (code == COPY) {
            emit(c, &s, wanted);
        } else if (code == ADVANCE_PC) {
            s.address += take_unsigned(r) * m->unit;
        } else if (code == ADVANCE_LINE) {
            s.line += take_signed(r);
        } else if (code == SET_FILE) {
            s.file = take_unsigned(r);
        } else if (code == CONST_ADD_PC) {
            s.address += (uint64_t)(255 - m->base) / m->range * m->unit;
        } else if (code == FIXED_ADVANCE_PC) {
            s.address += take(r, 2);
        } else {
            for (unsigned i = 0; i < m->operands[code]; i++)
                take_unsigned(r);
        }
    }
}

void cubin_read_lines(struct cubin *c, const unsigned char *lines, size_t bytes, size_t sequence)
{
    struct reader all = { lines, lines + bytes };
    const uint64_t length = take(&all, 4), version = take(&all, 2);
    if (sequence == SIZE_MAX || length + 4 > bytes || version < 2 || version > 4)
        return;
    all.end = lines + 4 + length;
    const uint64_t header = take(&all, 4);
    struct reader program = all;
    if ((uint64_t)(all.end - all.p) < header)
        return;
    program.p += header;
    struct machine m = { .unit = (unsigned)take(&all, 1) };
    take(&all, version >= 4 ? 2 : 1);
    m.line_base = (int)(take(&all, 1) ^ 0x80) - 0x80;  // a byte with a sign
    m.range = (unsigned)take(&all, 1);
    m.base = (unsigned)take(&all, 1);
    for (unsigned i = 1; i < m.base; i++)
        m.operands[i] = (unsigned char)take(&all, 1);
    if (!m.range)
        return;
    read_files(c, &all);
    run(c, &program, &m, sequence);
}
