// Modules: parse, place global variables, decode every kernel.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simt/decode/decode.h"
#include "base/arena.h"
#include "state.h"
#include "simt/exec/exec.h"
#include "simt/exec/warp_fn.h"

#define MAX_GLOBALS ((uint64_t)1 << 30)  // bytes of a module's variables, which are all filled when it is loaded

static uint64_t available_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 1ull << 32;
}

struct simt *simt_open(void)
{
    struct simt *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->exec = exec_pick();
    s->budget = SIMT_BUDGET;
    s->sm = 90;
    s->memory_limit = available_memory();
    return s;
}

static void free_module(struct simt *s, struct simt_module *m)
{
    for (uint32_t i = 0; m->globals && i < m->ptx->n_vars; i++)
        if (m->globals[i])
            memory_release(&s->memory, m->globals[i]);
    arena_free(m->arena);
    ptx_free(m->ptx);
    free(m);
}

void simt_unload(struct simt *s, struct simt_module *m)
{
    for (struct simt_module **p = &s->modules; *p; p = &(*p)->next) {
        if (*p == m) {
            *p = m->next;
            free_module(s, m);
            return;
        }
    }
}

void simt_close(struct simt *s)
{
    if (!s)
        return;
    while (s->modules)
        simt_unload(s, s->modules);
    heap_free(s->heap);
    memory_destroy(&s->memory);
    free(s->profile.lines);
    arena_free(s->profile_names);
    arena_free(s->findings_arena);
    free(s);
}

// The first global or constant variable that does not fit, or NULL.
static const struct ptx_var *too_large(const struct ptx_module *m)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < m->n_vars; i++) {
        const struct ptx_var *v = &m->vars[i];
        if (v->space != SPACE_GLOBAL && v->space != SPACE_CONST)
            continue;
        if (v->bytes > MAX_GLOBALS - sum)
            return v;
        sum += v->bytes;
    }
    return NULL;
}

static bool place_globals(struct simt *s, struct simt_module *m)
{
    m->globals = arena_alloc(m->arena, (m->ptx->n_vars + 1) * sizeof *m->globals);
    if (!m->globals)
        return false;
    for (uint32_t i = 0; i < m->ptx->n_vars; i++) {
        const struct ptx_var *v = &m->ptx->vars[i];
        if ((v->space != SPACE_GLOBAL && v->space != SPACE_CONST) || !v->bytes)
            continue;
        char name[128];
        snprintf(name, sizeof name, "%.*s", (int)(v->name.n < 100 ? v->name.n : 100), v->name.p);
        if (s->memory.used + v->bytes > s->memory_limit)
            return false;
        m->globals[i] = memory_alloc_low(&s->memory, name, v->bytes);
        if (!m->globals[i])
            return false;
        s->memory.all[m->globals[i] >> MEMORY_SHIFT].constant = v->space == SPACE_CONST;
        unsigned char *data = memory_at(&s->memory, m->globals[i], v->bytes);
        memset(data, 0, v->bytes);
        if (v->init)
            memcpy(data, v->init, v->init_bytes);
        memory_write(&s->memory, m->globals[i], v->bytes);
    }
    return true;
}

static uint64_t address_of(const struct simt_module *m, const struct ptx_pointer *p)
{
    if (p->var >= 0)
        return m->globals[p->var];
    const int64_t function = ptx_find_function(m->ptx, p->name);
    return function < 0 || !m->ptx->funcs[function].body ? 0 : memory_of_function((uint64_t)function);
}

// Initialisers that are addresses, once every variable has one. What has no address here is a null pointer.
static void place_pointers(struct simt *s, const struct simt_module *m)
{
    for (uint32_t i = 0; i < m->ptx->n_vars; i++) {
        const struct ptx_var *v = &m->ptx->vars[i];
        for (uint32_t k = 0; k < v->n_pointers && m->globals[i]; k++) {
            const struct ptx_pointer *p = &v->pointers[k];
            const uint64_t base = address_of(m, p), address = (base ? base + p->plus : 0) >> p->shift;
            memcpy(memory_at(&s->memory, m->globals[i] + p->at, p->bytes), &address, p->bytes);
        }
    }
}

// A kernel that cannot be decoded says why when it is launched.
static void load_kernel(struct simt *s, struct simt_module *m, const struct ptx_func *f)
{
    struct simt_kernel *k = &m->kernels[m->n_kernels++];
    char why[DEV_ERROR_MAX] = "";
    *k = (struct simt_kernel){ .func = f,
                               .module = m,
                               .name = arena_printf(m->arena, "%.*s", (int)f->name.n, f->name.p) };
    if (!k->name)
        k->name = "?";
    const struct ptx_func *whole = ptx_inline(m->ptx, f, m->arena, why, &k->error_at);
    k->func = whole ? whole : f;
    if (whole)
        k->code = decode(m->ptx, whole, m->globals, s->sm, 0, m->arena, why, &k->error_at);
    if (!k->code)
        k->error = arena_printf(m->arena, "%s", why);
    if (!k->code && !k->error)
        k->error = "out of memory";
}

struct simt_module *simt_load(struct simt *s, const char *file, const char *text, size_t bytes,
                              char error[DEV_ERROR_MAX])
{
    struct ptx_module *ptx = ptx_parse(file, text, bytes, error);
    if (!ptx)
        return NULL;
    const struct ptx_var *large = too_large(ptx);
    if (large) {
        ptx_error_at(ptx, large->name.p, error, "the module's variables, '%.*s' among them, take more than 1 GiB",
                     (int)large->name.n, large->name.p);
        ptx_free(ptx);
        return NULL;
    }
    struct simt_module *m = calloc(1, sizeof *m);
    struct arena *arena = arena_new(arena_limit(bytes));
    if (m)
        *m = (struct simt_module){ .ptx = ptx, .arena = arena };
    if (!m || !arena || !place_globals(s, m) ||
        !(m->kernels = arena_alloc(arena, (ptx->n_funcs + 1) * sizeof *m->kernels))) {
        snprintf(error, DEV_ERROR_MAX, "%.400s: out of memory", file);
        if (m)
            free_module(s, m);
        else
            ptx_free(ptx);
        return NULL;
    }
    place_pointers(s, m);
    for (uint32_t i = 0; i < ptx->n_funcs; i++)
        if (ptx->funcs[i].entry && ptx->funcs[i].body)
            load_kernel(s, m, &ptx->funcs[i]);
    m->next = s->modules;
    s->modules = m;
    return m;
}

const struct code *simt_checked_code(struct simt *s, struct simt_kernel *k)
{
    char why[DEV_ERROR_MAX];
    const char *at;
    if (!k->checked)
        k->checked = decode(k->module->ptx, k->func, k->module->globals, s->sm, SIMT_GAP, k->module->arena, why, &at);
    return k->checked;
}
