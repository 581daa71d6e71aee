// Places in the source as nvcc writes them: a .loc for each call on the way from the kernel to an inlined function, the
// outermost first, and tables of files and of the functions' names at the end.
#include "irptx/print.h"

#include <string.h>

static uint32_t index_of(struct ir_module *m, struct str **items, uint32_t *count, struct str s)
{
    for (uint32_t i = 0; i < *count; i++)
        if (str_same((*items)[i], s))
            return i;
    *items = ir_grow(m, *items, *count, sizeof **items);
    (*items)[*count] = s;
    return (*count)++;
}

static uint32_t file_number(struct lines *l, uint32_t place)
{
    return index_of(l->m, &l->files, &l->file_count, ir_file(l->m, place)) + 1;
}

static void put_place(struct lines *l, struct text *t, uint32_t place, int depth)
{
    const struct ir_meta *at = &l->m->meta[place];
    if (at->kind != META_LOCATION || depth > 100)
        return;
    const uint32_t outer = at->inlined_at < l->m->meta_count ? at->inlined_at : 0;
    if (outer)
        put_place(l, t, outer, depth + 1);
    text_put(t, "\t.loc\t%u %u %u", file_number(l, place), at->line, at->column);
    if (outer) {
        const uint32_t name = index_of(l->m, &l->names, &l->name_count, ir_scope_name(l->m, place));
        const struct ir_meta *call = &l->m->meta[outer];
        text_put(t, ", function_name $L__info_string%u, inlined_at %u %u %u", name, file_number(l, outer), call->line,
                 call->column);
    }
    text_put(t, "\n");
}

void lines_put(struct lines *l, struct text *t, uint32_t place)
{
    if (!place || place >= l->m->meta_count || place == l->last || !l->m->meta[place].line)
        return;
    l->last = place;
    put_place(l, t, place, 0);
}

void lines_function(struct lines *l, struct text *t, uint32_t function)
{
    l->last = 0;
    if (function && function < l->m->meta_count)
        text_put(t, "\t.loc\t%u %u 0\n", file_number(l, function), l->m->meta[function].line);
}

void lines_tables(struct lines *l, struct text *t)
{
    for (uint32_t i = 0; i < l->file_count; i++) {
        const struct str file = l->files[i];
        const bool relative = l->root && *l->root && file.n && *file.p != '/';
        const bool slash = relative && l->root[strlen(l->root) - 1] != '/';
        text_put(t, "\t.file\t%u \"%s%s%.*s\"\n", i + 1, relative ? l->root : "", slash ? "/" : "", (int)file.n,
                 file.p);
    }
    if (!l->name_count)
        return;
    text_put(t, "\t.section\t.debug_str\n\t{\n");
    for (uint32_t i = 0; i < l->name_count; i++) {
        text_put(t, "$L__info_string%u:\n.b8 ", i);
        for (uint32_t k = 0; k < l->names[i].n; k++)
            text_put(t, "%u,", (unsigned char)l->names[i].p[k]);
        text_put(t, "0\n");
    }
    text_put(t, "\n\t}\n");
}
