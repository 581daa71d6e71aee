// See irptx.h.
#include "irptx/irptx.h"

#include <stdlib.h>
#include <string.h>

#include "irptx/parse.h"
#include "irptx/passes.h"
#include "irptx/print.h"
#include "irptx/select.h"

enum { ARENA_MAX = 1 << 30 };  // bytes

static const char *target_of(const struct ir_module *m)
{
    for (uint32_t i = 0; i < m->function_count; i++) {
        const struct str cpu = ir_attribute(m, &m->functions[i], "target-cpu");
        if (cpu.n)
            return ir_text((struct ir_module *)m, "%.*s", (int)cpu.n, cpu.p);
    }
    return "sm_75";
}

// +ptx80 among the features of the target: 8.0
static void put_version(const struct ir_module *m, struct text *t)
{
    for (uint32_t i = 0; i < m->function_count; i++) {
        const struct str features = ir_attribute(m, &m->functions[i], "target-features");
        for (uint32_t k = 0; k + 5 < features.n; k++)
            if (!strncmp(features.p + k, "+ptx", 4)) {
                text_put(t, ".version %c.%c\n", features.p[k + 4], features.p[k + 5]);
                return;
            }
    }
    text_put(t, ".version 8.0\n");
}

static void translate(struct ir_module *m, const char *ir, const struct irptx_options *o, struct text *t)
{
    ll_module(m, ir);
    struct text functions = { .m = m };
    struct lines lines = { .m = m, .root = o->root };
    for (uint32_t i = 0; i < m->function_count; i++) {
        struct code *c = select_function(m, &m->functions[i]);
        pass_same_phis(c);
        pass_copies(c);
        pass_dead(c);
        pass_places(c);
        pass_merge(c);
        pass_sink(c);
        pass_coalesce(c);
        pass_jumps(c);
        print_function(c, &functions, &lines);
    }
    put_version(m, t);
    text_put(t, ".target %s\n.address_size 64\n\n", o->arch ? o->arch : target_of(m));
    print_variables(m, t);
    print_declarations(m, t);
    text_put(t, "%s", functions.p ? functions.p : "");
    lines_tables(&lines, t);
}

char *irptx_translate(const char *ir, const struct irptx_options *options, char error[DEV_ERROR_MAX])
{
    struct ir_module *m = calloc(1, sizeof *m);
    char *volatile ptx = NULL;
    if (!m || !(m->arena = arena_new(ARENA_MAX))) {
        free(m);
        error_set(error, "out of memory");
        return NULL;
    }
    m->error = error;
    if (!setjmp(m->back)) {
        struct text text = { .m = m };
        translate(m, ir, options, &text);
        ptx = strdup(text.p);
        if (!ptx)
            error_set(error, "out of memory");
    }
    arena_free(m->arena);
    free(m);
    return ptx;
}
