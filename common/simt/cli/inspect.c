// simt inspect: what is in a PTX file, and what of it cannot run here.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "command.h"
#include "simt/ptx/demangle.h"

struct tally {
    struct str op;
    uint32_t count;
};

static int by_count(const void *a, const void *b)
{
    const struct tally *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    uint32_t n = x->op.n < y->op.n ? x->op.n : y->op.n;
    int order = memcmp(x->op.p, y->op.p, n);
    return order ? order : (x->op.n > y->op.n) - (x->op.n < y->op.n);
}

static bool histogram(const struct ptx_func *f)
{
    struct tally *tallies = calloc(f->n_insts + 1, sizeof *tallies);
    size_t n = 0;
    if (!tallies)
        return false;
    for (uint32_t i = 0; i < f->n_insts; i++) {
        struct str op = f->insts[i].op;
        size_t k = 0;
        while (k < n && (tallies[k].op.n != op.n || memcmp(tallies[k].op.p, op.p, op.n)))
            k++;
        n += k == n;
        tallies[k].op = op;
        tallies[k].count++;
    }
    qsort(tallies, n, sizeof *tallies, by_count);
    for (size_t k = 0; k < n; k++)
        printf("  %6u  %.*s\n", tallies[k].count, (int)tallies[k].op.n, tallies[k].op.p);
    free(tallies);
    return true;
}

static void show_parameters(const struct simt_kernel *k)
{
    const struct ptx_module *p = k->module->ptx;
    for (uint32_t j = 0; j < k->func->n_params; j++) {
        const struct ptx_var *v = &p->vars[k->func->params[j]];
        if (v->bytes == ptx_type_bytes(v->type))
            printf("  parameter %u: .%s\n", j, ptx_type_name(v->type));
        else
            printf("  parameter %u: %" PRIu64 " bytes, aligned to %u\n", j, v->bytes, v->align);
    }
}

static void show_name(const char *what, const char *name)
{
    char source[DEMANGLED_MAX];
    if (demangle(name, source))
        printf("%s %s: %s\n", what, name, source);
    else
        printf("%s %s\n", what, name);
}

static bool show_kernel(const struct simt_kernel *k)
{
    putchar('\n');
    show_name("kernel", k->name);
    show_parameters(k);
    if (k->func->max_threads)
        printf("  launch bounds: %u threads a block\n", k->func->max_threads);
    if (k->code) {
        printf("  static shared memory: %u bytes a block; local memory: %u bytes a thread\n", k->code->shared_bytes,
               k->code->local_bytes);
    } else {
        char caret[512];
        ptx_caret(k->module->ptx, k->error_at, caret, sizeof caret);
        printf("  cannot run here: %s\n%s", k->error, caret);
    }
    if (k->func->error)
        return true;
    printf("  %u instructions:\n", k->func->n_insts);
    return histogram(k->func);
}

// __constant__ and __device__ variables, for --set and --dump
static void show_variables(const struct simt_module *m)
{
    bool any = false;
    for (uint32_t i = 0; i < m->ptx->n_vars; i++) {
        const struct ptx_var *v = &m->ptx->vars[i];
        if (!m->globals[i] || v->local)
            continue;
        char name[DEMANGLED_MAX];
        snprintf(name, sizeof name, "%.*s", (int)(v->name.n < sizeof name ? v->name.n : 0), v->name.p);
        if (*name == '$' || !strncmp(name, "__unnamed", 9))
            continue;  // a text that a kernel prints
        printf(any ? "" : "\n");
        any = true;
        printf("variable %s: .%s, %" PRIu64 " bytes%s\n", name, v->space == SPACE_CONST ? "const" : "global", v->bytes,
               v->init ? ", initialised" : "");
    }
}

// How many kernels cannot run, and each reason once.
static uint32_t summarise(const struct simt_module *m)
{
    uint32_t refused = 0;
    for (uint32_t i = 0; i < m->n_kernels; i++)
        refused += !m->kernels[i].code;
    printf("\n%u kernel%s, %u cannot run here%s\n", m->n_kernels, text_plural(m->n_kernels), refused,
           refused ? ":" : "");
    for (uint32_t i = 0; i < m->n_kernels; i++) {
        const char *why = m->kernels[i].error;
        uint32_t same = 0;
        bool told = false;
        for (uint32_t k = 0; k < m->n_kernels && why; k++) {
            const char *other = m->kernels[k].error;
            if (!other || strcmp(simt_reason(&m->kernels[i]), simt_reason(&m->kernels[k])))
                continue;
            told |= k < i;
            same++;
        }
        if (why && !told)
            printf("  %4u  %s\n", same, simt_reason(&m->kernels[i]));
    }
    return refused;
}

int command_inspect(const struct simt_module *m)
{
    const struct ptx_module *p = m->ptx;
    printf("%s: PTX %.*s for %.*s, %u kernel%s\n", p->file, (int)p->version.n, p->version.p, (int)p->target.n,
           p->target.p, m->n_kernels, text_plural(m->n_kernels));
    for (uint32_t i = 0; i < m->n_kernels; i++)
        if (!show_kernel(&m->kernels[i]))
            return command_unable("out of memory");
    show_variables(m);
    return summarise(m) ? EXIT_UNABLE : EXIT_CLEAN;
}
