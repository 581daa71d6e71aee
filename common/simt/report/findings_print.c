// Findings for people, and as JSON. See findings.h.
#include "simt/findings.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/source.h"
#include "base/text.h"

enum { WIDTH = 110 };

static const char *look_of(const struct simt_finding *f, const struct simt_advice *advice)
{
    const char *look = advice && advice->look ? advice->look(advice->context, f) : NULL;
    return look ? look : simt_finding_look(f);
}

// --- for people ---

static void print_line(FILE *out, const char *file, unsigned line, const char *note)
{
    char text[WIDTH - 30];
    source_text(file, line, text, sizeof text);
    if (text[0])
        fprintf(out, "    %s:%-4u %s%s\n", source_base_name(file), line, text, note);
}

// The place's source, unless it is the place before.
static void print_source(FILE *out, const struct simt_finding_place *p, const struct simt_finding_place *before)
{
    if (!p->file ||
        (before->file && before->line == p->line && before->caller == p->caller && !strcmp(before->file, p->file)))
        return;
    if (p->caller)
        print_line(out, p->caller_file, p->caller, "   calls");
    const unsigned first = source_statement(p->file, p->line);
    if (first < p->line)
        print_line(out, p->file, first, "");
    print_line(out, p->file, p->line, "");
}

void simt_finding_print_look(FILE *out, const struct simt_finding *f, const struct simt_advice *advice)
{
    char number[TEXT_GROUPED];
    print_source(out, &f->there.place, &(struct simt_finding_place){ 0 });
    print_source(out, &f->here.place, &f->there.place);
    if (f->count > 1)
        fprintf(out, "    %s times in all, in this launch\n", text_grouped(f->count, number));
    fprintf(out, "    look at: %s\n", look_of(f, advice));
}

static void print_finding(FILE *out, const struct simt_finding *f, size_t number, const struct simt_advice *advice)
{
    char text[SIMT_FINDING_TEXT];
    simt_finding_text(f, text, sizeof text);
    fprintf(out, "%s%s (%s): %s\n", simt_finding_is_advice(f->kind) ? "advice: " : "", simt_finding_name(f->kind),
            simt_finding_tool(f->kind), text);
    simt_finding_print_look(out, f, advice);
    if (advice && advice->watch)
        fprintf(out, "    watch it: %s --finding %zu%s\n", advice->watch, number, advice->watch_end);
}

void simt_findings_print(FILE *out, const struct simt_findings *f, const struct simt_advice *advice)
{
    if (!f->n)
        fprintf(out,
                "The checks found nothing wrong with %s in this launch (bounds and alignment, uninitialised memory and "
                "registers, races inside and between blocks, barriers).\n",
                f->kernel);
    for (size_t i = 0; i < f->n + f->n_advice; i++) {
        fputs(i || !f->n ? "\n" : "", out);
        print_finding(out, &f->all[i], i + 1, advice);
    }
}

// --- JSON ---

static void json_three(struct json *j, const char *key, const uint32_t index[3])
{
    json_array(j, key);
    for (int i = 0; i < 3; i++)
        json_uint(j, NULL, index[i]);
    json_end(j);
}

static void json_place(struct json *j, const struct simt_finding_place *p)
{
    json_string(j, "file", p->file);
    json_uint(j, "line", p->line);
    if (p->caller_file)
        json_string(j, "caller_file", p->caller_file);
    json_uint(j, "caller", p->caller);
}

static void json_side(struct json *j, const char *key, const struct simt_side *s)
{
    static const char *const accesses[] = {
        [SIMT_READS] = "read", [SIMT_WRITES] = "write", [SIMT_CHANGES] = "change", [SIMT_COMPARES] = "compare"
    };
    static const char *const by[] = { [SIMT_BY_THREAD] = "thread",
                                      [SIMT_BY_CP_ASYNC] = "cp.async",
                                      [SIMT_BY_BULK_COPY] = "bulk copy",
                                      [SIMT_BY_WGMMA] = "wgmma" };
    if (!s->place.file)
        return;
    json_object(j, key);
    json_place(j, &s->place);
    json_three(j, "block", s->block);
    json_three(j, "thread", s->thread);
    json_string(j, "instruction", s->instruction);
    if (s->access) {
        json_string(j, "access", accesses[s->access]);
        json_string(j, "by", by[s->by]);
    }
    json_end(j);
}

static void json_object_of(struct json *j, const char *key, const struct simt_object *o)
{
    static const char *const spaces[] = {
        [SIMT_GLOBAL] = "global", [SIMT_SHARED] = "shared", [SIMT_LOCAL] = "local", [SIMT_REGISTER] = "register"
    };
    json_object(j, key);
    json_string(j, "space", spaces[o->space]);
    if (o->name)
        json_string(j, "name", o->name);
    if (o->space != SIMT_REGISTER) {
        json_uint(j, "bytes", o->bytes);
        json_uint(j, "address", o->address);
        json_int(j, "at", o->at);
    }
    if (o->owner == SIMT_OTHER_BLOCK)
        json_three(j, "block", o->block);
}

static void json_mbarrier(struct json *j, const struct simt_mbarrier *m)
{
    if (!m->object.space)
        return;
    json_object_of(j, "mbarrier", &m->object);
    json_uint(j, "index", m->index);
    if (m->phase >= 0)
        json_int(j, "phase", m->phase);
    json_end(j);
}

static void json_numbers(struct json *j, const struct simt_finding *f)
{
    const struct {
        const char *key;
        uint64_t value;
    } all[] = { { "bytes", f->bytes },
                { "expected", f->expected },
                { "seen", f->seen },
                { "left", f->left },
                { "lanes", f->lanes } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].value)
            json_uint(j, all[i].key, all[i].value);
}

static void json_waits(struct json *j, const struct simt_finding *f)
{
    static const char *const whats[] = {
        [SIMT_FOR_VALUE] = "value", [SIMT_FOR_MBARRIER] = "mbarrier", [SIMT_FOR_BARRIER] = "barrier",
        [SIMT_FOR_LANES] = "lanes", [SIMT_FOR_CLUSTER] = "cluster",   [SIMT_ENDED] = "ended"
    };
    if (!f->n_waits)
        return;
    json_array(j, "waits");
    for (const struct simt_wait *w = f->waits; w < f->waits + f->n_waits; w++) {
        json_object(j, NULL);
        json_string(j, "for", whats[w->what]);
        json_three(j, "block", w->block);
        json_uint(j, "warps", w->warps);
        json_mbarrier(j, &w->mbarrier);
        json_uint(j, "arrivals_missing", w->arrivals);
        json_int(j, "bytes_missing", w->bytes);
        json_uint(j, "arrived", w->arrived);
        json_end(j);
    }
    json_end(j);
}

static void json_finding(struct json *j, const struct simt_finding *f, const struct simt_advice *advice)
{
    char text[SIMT_FINDING_TEXT];
    simt_finding_text(f, text, sizeof text);
    json_object(j, NULL);
    json_string(j, "level", simt_finding_is_advice(f->kind) ? "advice" : "error");
    json_string(j, "check", simt_finding_tool(f->kind));
    json_string(j, "kind", simt_finding_name(f->kind));
    json_string(j, "id", simt_finding_id(f->kind));
    json_side(j, "here", &f->here);
    json_side(j, "there", &f->there);
    json_uint(j, "count", f->count);
    if (f->object.space) {
        json_object_of(j, "object", &f->object);
        json_end(j);
    }
    json_mbarrier(j, &f->mbarrier);
    json_numbers(j, f);
    json_waits(j, f);
    json_string(j, "text", text);
    json_string(j, "look", look_of(f, advice));
    json_end(j);
}

void simt_findings_json(struct json *j, const struct simt_findings *f, const struct simt_advice *advice)
{
    json_array(j, "findings");
    for (size_t i = 0; f && i < f->n + f->n_advice; i++)
        json_finding(j, &f->all[i], advice);
    json_end(j);
}
