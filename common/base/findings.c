// See findings.h.
#include "findings.h"

#include <inttypes.h>
#include <string.h>

#include "json.h"
#include "source.h"
#include "text.h"

enum { WIDTH = 110 };

static void print_line(FILE *out, const char *file, unsigned line, const char *note)
{
    char text[WIDTH - 30];
    source_text(file, line, text, sizeof text);
    if (text[0])
        fprintf(out, "    %s:%-4u %s%s\n", source_base_name(file), line, text, note);
}

// The place's source, unless it is the place before.
static void print_source(FILE *out, const struct finding_place *p, const struct finding_place *before)
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

void findings_print(FILE *out, const struct findings *f)
{
    char number[TEXT_GROUPED];
    if (!f->n)
        fprintf(out,
                "The checks found nothing wrong with %s in this launch (bounds and alignment, uninitialised memory and "
                "registers, races inside and between blocks, barriers).\n",
                f->kernel);
    for (size_t i = 0; i < f->n + f->n_advice; i++) {
        const struct finding *x = &f->all[i];
        fprintf(out, "%s%s%s (%s): %s\n", i || !f->n ? "\n" : "", x->advice ? "advice: " : "", x->kind, x->check,
                x->text);
        print_source(out, &x->there, &(struct finding_place){ 0 });
        print_source(out, &x->here, &x->there);
        if (x->count > 1)
            fprintf(out, "    %s times in all, in this launch\n", text_grouped(x->count, number));
        fprintf(out, "    look at: %s\n", x->look);
    }
}

static void json_place(struct json *j, const char *key, const struct finding_place *p)
{
    if (!p->file)
        return;
    json_object(j, key);
    json_string(j, "file", p->file);
    json_uint(j, "line", p->line);
    if (p->caller_file)
        json_string(j, "caller_file", p->caller_file);
    json_uint(j, "caller", p->caller);
    json_end(j);
}

void findings_json(struct json *j, const struct findings *f)
{
    json_array(j, "findings");
    for (size_t i = 0; f && i < f->n + f->n_advice; i++) {
        const struct finding *x = &f->all[i];
        json_object(j, NULL);
        json_string(j, "level", x->advice ? "advice" : "error");
        json_string(j, "check", x->check);
        json_string(j, "kind", x->kind);
        json_place(j, "here", &x->here);
        json_place(j, "there", &x->there);
        json_uint(j, "count", x->count);
        json_string(j, "text", x->text);
        json_string(j, "look", x->look);
        json_end(j);
    }
    json_end(j);
}
