// See mutate_judge.h.
#include "mutate_judge.h"

#include <string.h>

#include "compiler.h"
#include "step_case.h"

// A place is a line of the kernel, or lies in a function of a header; and it may have a caller.
static bool in_kernel(const struct simt_finding_place *p)
{
    return p->file && !strcmp(p->file, step_kernel());
}

// The mutant's own line, or one that calls it.
static bool names(const struct mutants *s, const struct simt_finding_place *p, const struct mutant *m)
{
    if (!p->file || m->file != s->n_files - 1)
        return p->file && !strcmp(p->file, s->files[m->file].path) && p->line == m->line;
    return p->caller == m->line || (in_kernel(p) && p->line == m->line);
}

// A line that has the array, or (NULL) any tile or mbarrier.
static bool uses(const struct mutants *s, const struct simt_finding_place *p, const char *array)
{
    return p->file && (mutants_line_has(s, p->caller, array) || (in_kernel(p) && mutants_line_has(s, p->line, array)));
}

// A line on the way of C, or of a tile, through shared memory.
static bool stores(const struct mutants *s, const struct simt_finding_place *p)
{
    return uses(s, p, NULL) || uses(s, p, "acc") || uses(s, p, "tma_store") || uses(s, p, "stmatrix") ||
           uses(s, p, "C") || uses(s, p, "load_from");
}

// A line of a header that more than one place may have called: clang does not say from where.
static bool caller_unknown(const struct simt_finding_place *p)
{
    return !BY_NVCC && p->file && !in_kernel(p) && !p->caller;
}

bool mutant_in_result(const struct mutants *s, const struct mutant *m)
{
    const enum mutant_rule rule = m->rule;
    return (rule == MUTANT_GUARD && s->in_for[m->edits[0].from]) || rule == MUTANT_STAGE || rule == MUTANT_TMA ||
           rule == MUTANT_WGMMA || rule == MUTANT_STORE || rule == MUTANT_PLACE;
}

// Of A, B or C, or of a tile of one: As, Bs, Cs.
static bool of_matrix(const struct simt_object *o)
{
    return o->space && o->name && *o->name && strchr("ABC", *o->name);
}

enum verdict mutant_fits(const struct mutants *s, const struct mutant *m, const struct simt_finding *f)
{
    const struct simt_finding_place *const here = &f->here.place, *const there = &f->there.place;
    const bool races = simt_finding_check(f->kind) == SIMT_RACECHECK;
    switch (m->rule) {
    case MUTANT_BARRIER:
        if (races && uses(s, here, NULL) && uses(s, there, NULL))
            return FOUND;
        break;
    case MUTANT_INDEX:
        if (names(s, here, m) || names(s, there, m))
            return FOUND;
        if (uses(s, here, m->array) || uses(s, there, m->array) || stores(s, here) || stores(s, there))
            return SHOWS;
        break;
    case MUTANT_GUARD:
        if (of_matrix(&f->object) || uses(s, here, NULL))
            return FOUND;
        if (stores(s, here) || stores(s, there))
            return SHOWS;
        break;
    case MUTANT_INITIALISER:
        if (simt_finding_class(f->kind) == SIMT_CLASS_VALUE && uses(s, here, "acc"))
            return FOUND;
        break;
    case MUTANT_COPY:
        if (races && (uses(s, here, NULL) || uses(s, there, NULL)))
            return FOUND;
        break;
    case MUTANT_STAGE:
        if (uses(s, here, NULL) || uses(s, there, NULL))
            return FOUND;
        break;
    case MUTANT_ROLE:
        if (simt_finding_class(f->kind) == SIMT_CLASS_REGISTERS &&
            (mutants_line_has(s, m->line, "fewer_registers") || mutants_line_has(s, m->line, "more_registers")))
            return FOUND;
    // fall through
    case MUTANT_MBARRIER:
    case MUTANT_TMA:
    case MUTANT_WGMMA:
    case MUTANT_STORE:
    case MUTANT_PLACE:
        if (names(s, here, m) || names(s, there, m))
            return FOUND;
        if (stores(s, here) || stores(s, there))
            return SHOWS;
        break;
    case MUTANT_RULES:
        break;
    }
    return caller_unknown(here) || caller_unknown(there) ? SHOWS : ELSEWHERE;
}
