// From a source line to the accesses of its instructions: which instructions are meant, and what to say where none is.
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/source.h"
#include "draw_run.h"
#include "simt/record/trace.h"
#include "simt/report/report.h"

// --- lines of instructions ---

static const char *file_of(const struct simt_kernel *k, const struct ptx_loc *loc)
{
    return loc ? ptx_source_name(k->module->ptx, loc->file) : k->module->ptx->file;
}

static const struct ptx_loc *loc_of(const struct simt_kernel *k, uint32_t inst)
{
    return ptx_loc_of(k->module->ptx, &k->func->insts[inst]);
}

static const struct ptx_loc *caller(const struct simt_kernel *k, const struct ptx_loc *loc)
{
    return ptx_caller(k->module->ptx, loc);
}

// The file in which the kernel itself is; the PTX where it names no lines.
static const char *own_file(const struct simt_kernel *k)
{
    for (uint32_t i = 0; i < k->func->n_insts; i++) {
        const struct ptx_loc *loc = loc_of(k, i);
        while (loc && caller(k, loc))
            loc = caller(k, loc);
        if (loc)
            return file_of(k, loc);
    }
    return file_of(k, NULL);
}

static bool same_file(const char *path, const struct simt_picture *p, const char *own)
{
    const char *name = source_base_name(path);
    if (!p->file)
        return !strcmp(path, own);
    return (strlen(name) == p->file_length && !strncmp(name, p->file, p->file_length)) ||
           (strlen(path) == p->file_length && !strncmp(path, p->file, p->file_length));
}

// Where a line of the PTX begins; its end if it has fewer.
static const char *ptx_line_at(const struct ptx_module *m, unsigned line)
{
    const char *p = m->text;
    for (; line > 1 && (p = strchr(p, '\n')); line--)
        p++;
    return p ? p : m->text + m->bytes;
}

// Was the instruction written at that place, or inlined there? from, to: the PTX's line of that number.
static bool at_place(const struct simt_kernel *k, uint32_t inst, const struct simt_picture *p, const char *own,
                     const char *from, const char *to)
{
    const struct ptx_loc *loc = loc_of(k, inst);
    const char *at = k->func->insts[inst].at;
    if (!loc)
        return at >= from && at < to && same_file(file_of(k, NULL), p, own);
    for (; loc; loc = caller(k, loc))
        if (loc->line == p->line && same_file(file_of(k, loc), p, own))
            return true;
    return false;
}

// --- messages ---

struct spot {
    const char *file;
    unsigned line;
};

static int by_spot(const void *a, const void *b)
{
    const struct spot *x = a, *y = b;
    int files = strcmp(x->file, y->file);
    return files ? files : (x->line > y->line) - (x->line < y->line);
}

// Where an instruction was written; of another file's function, the line of own that calls it.
static struct spot spot_of(const struct simt_kernel *k, uint32_t inst, const char *own)
{
    const struct ptx_loc *loc = loc_of(k, inst);
    struct spot spot = { file_of(k, loc), loc ? loc->line : ptx_line(k->module->ptx, k->func->insts[inst].at) };
    for (; loc; loc = caller(k, loc))
        if (!strcmp(file_of(k, loc), own))
            return (struct spot){ own, loc->line };
    return spot;
}

// The lines whose instructions went to shared memory, or to global: "24, 38, helper.h:95". bit: TRACE_TO_...
static void list_lines(const struct simt_kernel *k, const struct trace *t, unsigned char bit, char *text, size_t size)
{
    struct spot *spots = calloc(k->func->n_insts + 1, sizeof *spots);
    const char *own = own_file(k);
    size_t n = 0, used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; spots && i < k->func->n_insts; i++) {
        if (t->touched[i] & bit)
            spots[n++] = spot_of(k, i, own);
    }
    if (spots)
        qsort(spots, n, sizeof *spots, by_spot);
    for (size_t i = 0; i < n; i++) {
        const bool mine = !strcmp(spots[i].file, own);
        if (i && !by_spot(&spots[i], &spots[i - 1]))
            continue;
        if (used + 80 > size) {
            snprintf(text + used, size - used, ", ...");
            break;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%.60s%s%u", used ? ", " : "",
                                 mine ? "" : source_base_name(spots[i].file), mine ? "" : ":", spots[i].line);
    }
    free(spots);
}

static void name_place(const struct simt_kernel *k, const struct simt_picture *p, char *text, size_t size)
{
    const char *own = own_file(k);
    const char *name = p->file ? p->file : source_base_name(own);
    snprintf(text, size, "%.*s:%u", (int)(p->file ? p->file_length : strlen(name)) % 200, name, p->line);
}

static void explain(const struct simt_kernel *k, const struct trace *t, const struct simt_picture *p, uint64_t found,
                    char error[DEV_ERROR_MAX])
{
    char where[300], lines[400], who[120];
    const unsigned char bit = p->global ? TRACE_TO_GLOBAL : TRACE_TO_SHARED;
    const char *space = p->global ? "global" : "shared";
    bool elsewhere = false;
    name_place(k, p, where, sizeof where);
    list_lines(k, t, bit, lines, sizeof lines);
    snprintf(who, sizeof who, "warp %" PRIu64 " of block (%" PRIu64 ",%" PRIu64 ",%" PRIu64 ")", p->warp, p->block[0],
             p->block[1], p->block[2]);
    for (uint32_t i = 0; i < k->func->n_insts; i++)
        elsewhere |= t->wanted[i] && t->touched[i] & bit;
    if (found)
        snprintf(error, DEV_ERROR_MAX,
                 "%s: %s runs %" PRIu64 " such instruction%s there: --nth goes from 0 to %" PRIu64, where, who, found,
                 text_plural(found), found - 1);
    else if (p->exact)
        snprintf(error, DEV_ERROR_MAX, "%s: %s does not execute that instruction there", where, who);
    else if (elsewhere)
        snprintf(error, DEV_ERROR_MAX,
                 "%s: %s runs no %s-memory instruction there, but others do: see --warp and --block-index", where, who,
                 space);
    else if (*lines)
        snprintf(error, DEV_ERROR_MAX, "%s has no %s-memory instruction; these lines have: %s", where, space, lines);
    else {
        const int n =
            snprintf(error, DEV_ERROR_MAX, "%s has no %s-memory instruction, and no other line of kernel %.200s has",
                     where, space, k->name);
        list_lines(k, t, p->global ? TRACE_TO_SHARED : TRACE_TO_GLOBAL, lines, sizeof lines);
        if (*lines && n > 0 && n < DEV_ERROR_MAX)
            snprintf(error + n, DEV_ERROR_MAX - (size_t)n, "; %s memory: %s", p->global ? "shared" : "global", lines);
    }
}

// --- the caption ---

// The instruction as it stands in the PTX, up to its semicolon, blanks as single ones.
static void ptx_text(const struct ptx_inst *in, char *text, size_t size)
{
    size_t n = 0;
    for (const char *p = in->at; *p && *p != ';' && n + 5 < size; p++) {
        const bool blank = *p == ' ' || *p == '\t' || *p == '\n' || *p == '\r';
        if (n + 8 > 148) {
            memcpy(text + n, "...", 3);
            n += 3;
            break;
        }
        if (!blank || (n && text[n - 1] != ' '))
            text[n++] = blank ? ' ' : *p;
    }
    while (n && text[n - 1] == ' ')
        n--;
    text[n] = '\0';
}

static void source_line(const struct simt_kernel *k, const struct ptx_loc *loc, char *out, size_t size)
{
    char text[120];
    source_text(file_of(k, loc), loc->line, text, sizeof text);
    snprintf(out, size, "%.100s:%u%s%s", source_base_name(file_of(k, loc)), loc->line, *text ? "  " : "", text);
}

static void caption(struct draw_subject *s, const struct simt_kernel *k, const struct simt_picture *p, uint64_t found)
{
    const uint32_t inst = s->event->u->inst;
    const struct ptx_loc *loc = loc_of(k, inst);
    char *last = s->source[DRAW_LINES - 1];
    ptx_text(&k->func->insts[inst], s->ptx, sizeof s->ptx);
    if (loc)
        source_line(k, loc, s->source[0], sizeof s->source[0]);
    else
        snprintf(s->source[0], sizeof s->source[0], "%.100s:%u", source_base_name(file_of(k, NULL)),
                 ptx_line(k->module->ptx, k->func->insts[inst].at));
    const char *own = own_file(k);
    bool asked = !loc || (loc->line == p->line && same_file(file_of(k, loc), p, own));
    for (const struct ptx_loc *at = loc ? caller(k, loc) : NULL; at && !asked; at = caller(k, at)) {
        asked = at->line == p->line && same_file(file_of(k, at), p, own);
        if (asked)
            source_line(k, at, s->source[1], sizeof s->source[1]);
    }
    int n =
        snprintf(last, sizeof s->source[0], "kernel %.100s, block (%" PRIu64 ",%" PRIu64 ",%" PRIu64 "), warp %" PRIu64,
                 k->name, p->block[0], p->block[1], p->block[2], p->warp);
    if (p->execution)
        n += snprintf(last + n, sizeof s->source[0] - (size_t)n,
                      ", execution %" PRIu64 " of 0 to %" PRIu64 " of this instruction", p->execution,
                      s->event->times - 1);
    else if (found > 1)
        n += snprintf(last + n, sizeof s->source[0] - (size_t)n,
                      ", the first execution of --nth %" PRIu64 " (of 0 to %" PRIu64 " for this line)", p->nth,
                      found - 1);
    else
        n += snprintf(last + n, sizeof s->source[0] - (size_t)n, ", its first execution");
    if (s->event->n > 1)
        snprintf(last + n, sizeof s->source[0] - (size_t)n, "; the machine makes %u accesses of it", s->event->n);
    if (s->event->widened)
        snprintf(last + n, sizeof s->source[0] - (size_t)n,
                 "; ptxas merges it with its neighbours into one access of %u bytes a lane", s->event->access[0].bytes);
}

// --- the run ---

// The nth of the events in the space that is asked for; how many there are in *found. Those that cannot be drawn count
// only where there are no others.
static const struct trace_event *choose(const struct trace *t, const struct simt_picture *p, uint64_t *found)
{
    const struct trace_event *chosen = NULL;
    for (int pass = 0; pass < 4; pass++) {  // shared memory first, then global memory where the line has only that
        const enum ptx_space space = pass >= 2 || p->global ? SPACE_GLOBAL : SPACE_SHARED;
        *found = 0;
        for (const struct trace_event *e = t->first; e; e = e->next) {
            if (e->space != space || (e->refused != NULL) != pass % 2 || (p->exact && e->u->inst != p->instruction))
                continue;
            if ((*found)++ == (p->exact ? 0 : p->nth))
                chosen = e;
        }
        if (*found)
            break;
    }
    return chosen;
}

static char *draw(struct simt *s, const struct simt_kernel *k, const struct trace *t, const struct simt_picture *p,
                  char error[DEV_ERROR_MAX])
{
    uint64_t found = 0;
    const struct code *code = s->checks && k->checked ? k->checked : k->code;  // whose addresses the trace has
    struct draw_subject subject = { .event = choose(t, p, &found), .code = code, .memory = &s->memory };
    char *text = NULL, where[400];
    if (!subject.event) {
        explain(k, t, p, found, error);
        return NULL;
    }
    if (subject.event->times <= p->execution && !subject.event->refused) {
        name_place(k, p, where, sizeof where);
        snprintf(error, DEV_ERROR_MAX,
                 "%s: warp %" PRIu64 " executes it %" PRIu64 " time%s: --execution goes to %" PRIu64, where, p->warp,
                 subject.event->times, text_plural(subject.event->times), subject.event->times - 1);
        return NULL;
    }
    subject.large = p->large;
    caption(&subject, k, p, found);
    if (subject.event->refused) {
        report_where(k, subject.event->u->inst, where, sizeof where);
        snprintf(error, DEV_ERROR_MAX, "%s: '%.*s' cannot be drawn: %s", where, (int)strcspn(subject.ptx, " "),
                 subject.ptx, subject.event->refused);
        return NULL;
    }
    text = draw_access(&subject);
    if (!text)
        snprintf(error, DEV_ERROR_MAX, "out of memory for the picture");
    return text;
}

bool *draw_instructions(const struct simt_kernel *k, const struct simt_picture *p)
{
    const uint32_t n = k->func->n_insts;
    bool *wanted = calloc(n + 1, sizeof *wanted);
    const char *own = own_file(k), *from = ptx_line_at(k->module->ptx, p->line);
    const char *to = ptx_line_at(k->module->ptx, p->line + 1);
    for (uint32_t i = 0; wanted && i < n; i++)
        wanted[i] = at_place(k, i, p, own, from, to);
    return wanted;
}

char *draw_line(const struct draw_launch *l, char error[DEV_ERROR_MAX])
{
    struct simt *s = l->simt;
    const struct simt_kernel *k = l->kernel;
    const struct simt_picture *p = l->place;
    const uint32_t n = k->func->n_insts;
    char *text = NULL;
    if (!draw_known_place(l->how->grid, l->how->block, p, error))
        return NULL;
    bool *wanted = draw_instructions(k, p);
    struct trace t = { .block = p->block[0] + l->how->grid[0] * (p->block[1] + (uint64_t)l->how->grid[1] * p->block[2]),
                       .warp = (uint32_t)p->warp,
                       .execution = p->execution,
                       .wanted = wanted,
                       .touched = calloc(n + 1, 1) };
    s->trace = &t;
    if (!wanted || !t.touched)
        snprintf(error, DEV_ERROR_MAX, "out of memory");
    else if (!simt_launch(s, l->kernel, l->how, error))
        text = NULL;
    else if (t.failed)
        snprintf(error, DEV_ERROR_MAX, "out of memory for the accesses");
    else
        text = draw(s, k, &t, p, error);
    s->trace = NULL;
    trace_free(&t);
    free(wanted);
    free((void *)t.touched);
    return text;
}
