// See watch_show.h.
#include "watch_show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/source.h"
#include "base/text.h"
#include "inside.h"

enum { LANES = 32, SHOWN = 8, AROUND = 4, SOURCE = 160 };

struct showing {
    struct watch *w;
    FILE *out;
};

// Lanes as "lanes 0 to 15", "lane 3", "all lanes".
static void show_lanes(uint32_t lanes, char *out, size_t room)
{
    struct text_end t = { out, room };
    const char *between = " ";
    if (lanes == UINT32_MAX) {
        text_add(&t, "all lanes");
        return;
    }
    text_add(&t, "lane%s", lanes & (lanes - 1) ? "s" : "");
    for (uint32_t i = 0, to; i < LANES; i = to + 1) {
        for (to = i; to < LANES && lanes >> to & 1;)
            to++;
        if (to == i)
            continue;
        text_add(&t, to - i > 1 ? "%s%u to %u" : "%s%u", between, i, to - 1);
        between = ", ";
    }
}

// --- a step ---

void show_place(const struct watch *w, uint32_t instruction, FILE *out)
{
    const unsigned line = watch_line(w, instruction);
    if (line)
        fprintf(out, "%s:%u", source_base_name(watch_file(w)), line);
    else
        fprintf(out, "instruction %u", instruction);
}

static void print_operand(const struct showing *s, const struct simt_look *look, const struct simt_operand *o)
{
    char place[WATCH_TEXT];
    uint32_t at;
    const uint32_t lanes = simt_look_lanes(look), first = (uint32_t)__builtin_ctz(lanes);
    const char *const roles[] = { [SIMT_READ] = "  ", [SIMT_WRITTEN] = "= ", [SIMT_ADDRESS] = "at" };
    fprintf(s->out, "    %s %.*s:", roles[o->role], (int)o->name_bytes, o->name);
    if (o->role == SIMT_ADDRESS && simt_look_shared_at(look, o, first, &at)) {
        watch_shared_text(s->w, at, place);
        fprintf(s->out, " %s in lane %u;", place, first);
    }
    const struct simt_type type = o->role == SIMT_ADDRESS ? o->type : watch_type(s->w, o->number);
    show_values(s->out, o->value, lanes, &type, NULL, SHOWN);
}

static bool see_step(void *context, uint64_t moment, const struct simt_look *look)
{
    enum { OPERANDS = 12 };  // shown at most: wgmma has hundreds
    const struct showing *s = context;
    const uint32_t number = simt_look_instruction(look);
    char lanes[200], source[SOURCE];
    struct simt_instruction in;
    struct simt_register guard;
    struct simt_operand o;
    uint32_t i = 0;
    show_lanes(simt_look_lanes(look), lanes, sizeof lanes);
    fprintf(s->out, "step %" PRIu64 " of %" PRIu64 ": warp %u, its step %" PRIu64 ", %s\n  ", moment, watch_steps(s->w),
            simt_look_warp(look), simt_look_step(look), lanes);
    show_place(s->w, number, s->out);
    source_text(watch_file(s->w), watch_line(s->w, number), source, sizeof source);
    fprintf(s->out, "  %s\n", source);
    if (simt_instruction(watch_kernel(s->w), number, &in)) {
        fputs("    ", s->out);
        if (simt_register(watch_kernel(s->w), in.guard, &guard))
            fprintf(s->out, "@%s%s ", in.unless ? "!" : "", guard.name);
        fprintf(s->out, "%.*s%s\n", (int)(in.text_bytes < SOURCE ? in.text_bytes : SOURCE), in.text,
                in.text_bytes < SOURCE ? "" : " ...");
    }
    for (; i < OPERANDS && simt_look_operand(look, i, &o); i++)
        print_operand(s, look, &o);
    if (simt_look_operand(look, i, &o))
        fputs("    ...\n", s->out);
    const uint32_t products = simt_look_products(look, simt_look_warp(look));
    if (products)
        fprintf(s->out, "    (%u product%s of wgmma on %s way)\n", products, text_plural(products),
                products == 1 ? "its" : "their");
    return false;
}

bool show_step(struct watch *w, uint64_t moment, FILE *out, char error[DEV_ERROR_MAX])
{
    struct showing s = { .w = w, .out = out };
    return watch_run(w, moment, moment, see_step, &s, error);
}

void show_source(const struct watch *w, uint64_t moment, FILE *out)
{
    const unsigned line = watch_step(w, moment).line;
    char source[SOURCE];
    for (unsigned i = line > AROUND ? line - AROUND : 1; line && i <= line + AROUND; i++) {
        source_text(watch_file(w), i, source, sizeof source);
        fprintf(out, "%c %4u  %s\n", i == line ? '>' : ' ', i, source);
    }
}

// --- who stands where ---

static void print_group(const struct showing *s, uint32_t warp, const struct simt_lanes *g,
                        const struct simt_look *look)
{
    char lanes[200], place[WATCH_TEXT];
    uint32_t at, parity, lane;
    show_lanes(g->lanes, lanes, sizeof lanes);
    fprintf(s->out, ", %s: ", lanes);
    if (g->standing == SIMT_AT_BARRIER)
        fprintf(s->out, "wait at barrier %u, ", g->barrier);
    else if (g->standing == SIMT_AT_CLUSTER_BARRIER)
        fputs("wait at the cluster's barrier, ", s->out);
    else if (g->standing == SIMT_AWAITS_LANES)
        fputs("wait for other lanes, ", s->out);
    else if (simt_look_wait(look, warp, &at, &parity, &lane) && g->lanes >> lane & 1) {
        watch_shared_text(s->w, at, place);
        fprintf(s->out, "wait for %s, phase %u, ", place, parity);
    }
    show_place(s->w, g->next, s->out);
}

// Where the lanes of a warp stand, in words. The caller frees it; NULL when memory runs out.
static char *warp_text(const struct showing *s, uint32_t warp, const struct simt_look *look)
{
    char *text = NULL, lanes[200];
    size_t bytes;
    struct simt_lanes g;
    struct showing in = { .w = s->w, .out = open_memstream(&text, &bytes) };
    const uint32_t ended = simt_look_ended(look, warp);
    if (!in.out)
        return NULL;
    for (uint32_t i = 0; simt_look_standing(look, warp, i, &g); i++)
        print_group(&in, warp, &g, look);
    show_lanes(ended, lanes, sizeof lanes);
    if (ended)
        fprintf(in.out, ", %s: ended", lanes);
    fclose(in.out);
    return text;
}

// Warps of which the same is said, one after the other, are told together; those of which nothing is, not at all.
// False: none was told.
static bool print_warps(const struct showing *s, const struct simt_look *look,
                        char *(*text_of)(const struct showing *, uint32_t warp, const struct simt_look *))
{
    const uint32_t n = simt_look_warps(look);
    char *text = text_of(s, 0, look);
    bool any = false;
    for (uint32_t first = 0, warp = 1; warp <= n && text; warp++) {
        char *next = warp < n ? text_of(s, warp, look) : NULL;
        if (!next || strcmp(text, next) != 0) {
            if (*text) {
                fprintf(s->out, warp - first > 1 ? "warps %u to %u" : "warp %u", first, warp - 1);
                fprintf(s->out, "%s\n", text);
                any = true;
            }
            first = warp;
        }
        free(text);
        text = next;
    }
    free(text);
    return any;
}

static bool see_warps(void *context, uint64_t moment, const struct simt_look *look)
{
    (void)moment;
    print_warps(context, look, warp_text);
    return false;
}

bool show_warps(struct watch *w, uint64_t moment, FILE *out, char error[DEV_ERROR_MAX])
{
    struct showing s = { .w = w, .out = out };
    return watch_run(w, moment, moment, see_warps, &s, error);
}

static bool see_barriers(void *context, uint64_t moment, const struct simt_look *look)
{
    const struct showing *s = context;
    struct simt_barrier b;
    struct watch_mbarrier m;
    char place[WATCH_TEXT];
    bool any = false;
    for (uint32_t i = 0; simt_look_barrier(look, i, &b); i++) {
        if (!b.arrived)
            continue;
        any = true;
        fprintf(s->out, "barrier %u: %u threads have come", i, b.arrived);
        fprintf(s->out, b.expected ? " of %u\n" : " of all that have not ended\n", b.expected);
    }
    for (uint32_t i = 0; watch_mbarrier(s->w, moment, look, i, &m); i++) {
        any = true;
        watch_shared_text(s->w, m.at, place);
        fprintf(s->out, "%s: phase %u, number %" PRIu64 "; %u of %u arrivals and %" PRId64 " bytes are missing\n",
                place, (unsigned)(m.phase % 2), m.phase + 1, m.pending, m.expected, m.bytes);
    }
    if (!any)
        fputs("no warp waits at a barrier, and there are no mbarriers\n", s->out);
    return false;
}

bool show_barriers(struct watch *w, uint64_t moment, FILE *out, char error[DEV_ERROR_MAX])
{
    struct showing s = { .w = w, .out = out };
    return watch_run(w, moment, moment, see_barriers, &s, error);
}

// What the lanes of a warp have open, in words. As warp_text.
static char *groups_text(const struct showing *s, uint32_t warp, const struct simt_look *look)
{
    char *text = NULL, lanes[200], groups[WATCH_TEXT];
    size_t bytes;
    uint32_t left = UINT32_MAX, some;
    FILE *out = open_memstream(&text, &bytes);
    (void)s;
    if (!out)
        return NULL;
    while ((some = watch_groups(look, warp, &left, groups))) {
        show_lanes(some, lanes, sizeof lanes);
        fprintf(out, ", %s: %s", lanes, groups);
    }
    fclose(out);
    return text;
}

static bool see_copies(void *context, uint64_t moment, const struct simt_look *look)
{
    const struct showing *s = context;
    struct simt_copy c;
    char place[WATCH_TEXT];
    uint32_t i = 0;
    (void)moment;
    const bool any = print_warps(s, look, groups_text);
    for (; simt_look_copy(look, i, &c); i++) {
        watch_shared_text(s->w, c.at, place);
        fprintf(s->out, "%u bytes %s %s, asked for by thread %u at ", c.bytes, c.comes ? "to" : "from", place,
                c.thread);
        show_place(s->w, c.instruction, s->out);
        if (c.comes) {
            watch_shared_text(s->w, c.mbarrier, place);
            fprintf(s->out, ", reports to %s", place);
        }
        fputc('\n', s->out);
    }
    if (!i && !any)
        fputs("no copy is under way\n", s->out);
    return false;
}

bool show_copies(struct watch *w, uint64_t moment, FILE *out, char error[DEV_ERROR_MAX])
{
    struct showing s = { .w = w, .out = out };
    return watch_run(w, moment, moment, see_copies, &s, error);
}

void show_arrivals(const struct watch *w, uint64_t moment, uint32_t at, FILE *out)
{
    static const char *const whats[] = {
        [WATCH_ARRIVES] = "arrived", [WATCH_EXPECTS] = "said how many bytes", [WATCH_COPIES] = "asked for a copy"
    };
    struct watch_arrival a;
    char lanes[200], place[WATCH_TEXT];
    uint32_t i = 0;
    watch_shared_text(w, at, place);
    for (; watch_arrival(w, moment, at, i, &a); i++) {
        show_lanes(a.lanes, lanes, sizeof lanes);
        fprintf(out, "%s, phase %u, step %" PRIu64 ": warp %u, %s %s%s, ", place, (unsigned)(a.phase % 2), a.moment,
                a.warp, lanes, a.arrives && a.what == WATCH_EXPECTS ? "arrived and " : "", whats[a.what]);
        show_place(w, a.instruction, out);
        fputc('\n', out);
    }
    if (!i)
        fprintf(out, "%s: nobody has come so far\n", place);
}
