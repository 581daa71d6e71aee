// What is said of a cause, and which lines it sends the reader to. See cause.h.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/profile.h"
#include "base/ptx_file.h"
#include "base/source.h"
#include "base/text.h"
#include "cause.h"
#include "device/sim.h"
#include "kernel_text.h"
#include "probe.h"

void cause_say(struct cause *c, const char *format, ...)
{
    const size_t used = strlen(c->text);
    va_list args;
    va_start(args, format);
    vsnprintf(c->text + used, sizeof c->text - used, format, args);
    va_end(args);
}

void cause_say_sentence(struct cause *c, const char *begin)
{
    const size_t used = strlen(c->text);
    cause_say(c, "%s %s", used && strchr("?.", c->text[used - 1]) ? "" : ".", begin);
}

void cause_say_where(struct cause *c)
{
    if (!c->says_where)
        c->where = strlen(c->text);
    c->says_where = true;
}

bool cause_add_line(struct cause *c, unsigned line)
{
    int i = 0;
    while (i < CAUSE_LINES && c->look[i] && c->look[i] != line)
        i++;
    if (!line || i == CAUSE_LINES || c->look[i])
        return false;
    c->look[i] = line;
    return true;
}

const enum line_role CAUSE_NO_LINES[] = { LINE_ROLES };

#define LOOK_AT "; look at "
#define AND_AT ", "

// Appends a line that was not yet said. Whether it is one.
static bool look_at(struct cause *c, unsigned line)
{
    const char *before = c->look[0] ? AND_AT : LOOK_AT;
    if (!cause_add_line(c, line))
        return false;
    cause_say(c, "%s%s:%u", before, source_base_name(c->lines.file), line);
    return true;
}

// The end of "kernel.cu:38" behind these words; NULL: that does not stand here.
static char *behind_line(char *p, const char *words, const char *name)
{
    if (!text_begins(p, words) || !text_begins(p + strlen(words), name))
        return NULL;
    p += strlen(words) + strlen(name);
    return p + strspn(p, "0123456789");
}

void cause_drop_look(struct cause *c)
{
    char name[PTX_SOURCE + 1], *end, *next;
    snprintf(name, sizeof name, "%s:", source_base_name(c->lines.file));
    for (char *p = c->text; *p; p++)
        if ((end = behind_line(p, LOOK_AT, name))) {
            while ((next = behind_line(end, AND_AT, name)))
                end = next;
            memmove(p, end, strlen(end) + 1);
        }
}

void cause_look_at_line(struct cause *c, unsigned line)
{
    look_at(c, line);
}

void cause_look_at_most(struct cause *c, const enum line_role *roles, int most)
{
    for (; *roles != LINE_ROLES && most; roles++)
        most -= look_at(c, c->lines.line[*roles]);
}

void cause_look_at(struct cause *c, const enum line_role *roles)
{
    cause_look_at_most(c, roles, CAUSE_LINES);
}

void cause_look_first(struct cause *c, const unsigned *lines, unsigned n)
{
    unsigned before[CAUSE_LINES];
    memcpy(before, c->look, sizeof before);
    memset(c->look, 0, sizeof c->look);
    for (unsigned i = 0; i < n; i++)
        cause_add_line(c, lines[i]);
    for (int i = 0; i < CAUSE_LINES; i++)
        cause_add_line(c, before[i]);
}

const struct simt_kernel *cause_kernel(const struct probe *p)
{
    return (const struct simt_kernel *)dev_kernel(p->dev, p->module, p->geometry.kernel);
}

unsigned cause_own_line(const struct cause *c, const struct simt_finding_place *p)
{
    if (p->file && !strcmp(p->file, c->lines.file))
        return p->line;
    return p->caller_file && !strcmp(p->caller_file, c->lines.file) ? p->caller : 0;
}

unsigned cause_index_line(const struct cause *c, unsigned line)
{
    unsigned makers[KERNEL_MAKERS];
    const unsigned n = line ? kernel_text_index_makers(c->lines.file, line, makers) : 0;
    for (unsigned i = 0; i < n; i++)
        if (kernel_text_sets_for(c->lines.file, makers[i], line))
            return makers[i];
    return 0;
}

// Bytes of a block's shared memory, by its declarations and the launch; 0: they are not known.
static size_t shared_bytes(const struct probe *p)
{
    const struct simt_kernel *k = device_simt(p->dev) ? cause_kernel(p) : NULL;
    return k ? simt_kernel_about(k).shared + (size_t)p->geometry.shared : 0;
}

// The kernel's lines that this run executed, and what the block's shared memory has room for. Without counters, as on a
// GPU, all lines count.
void cause_read_lines(struct cause *c, const struct probe *p)
{
    const struct profile *ran = dev_profile(p->dev);
    const struct geometry *g = &p->geometry;
    const size_t tiles = (size_t)(g->bm + g->bn) * (size_t)g->bk * type_size(p->type);
    if (c->ran)
        return;
    c->ran = true;
    kernel_lines_read(&c->lines, p->ptx, g->kernel, ran);
    if (ran && !c->lines.line[LINE_STORE_C] && !c->lines.line[LINE_STORE_BOX])  // it stores nothing
        kernel_lines_read(&c->lines, p->ptx, g->kernel, NULL);
    c->staged = tiles && (!shared_bytes(p) || shared_bytes(p) >= 2 * tiles);
    c->boxes = c->lines.line[LINE_STORE_BOX];
    if (c->boxes)
        c->lines.line[LINE_STORE_C] = c->lines.line[LINE_STORE_BOX];
}

bool cause_of_threads(struct cause *c, const struct probe *p)
{
    static const enum line_role roles[] = { LINE_GEOMETRY, LINE_ROLES };
    const struct dev_kernel *k = dev_kernel(p->dev, p->module, p->geometry.kernel);
    const uint32_t bound = k && device_simt(p->dev) ? simt_kernel_about((const struct simt_kernel *)k).max_threads : 0;
    if (!bound || (uint32_t)p->geometry.threads >= bound)
        return false;
    cause_say(c, "the geometry has %d threads a block, and __launch_bounds__ says %u", p->geometry.threads, bound);
    cause_look_at(c, roles);
    return true;
}
