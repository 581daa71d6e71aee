// See mutate_judge.h.
#include "mutate_judge.h"

#include <string.h>

#include "compiler.h"
#include "step_case.h"

// A place is a line of the kernel, or lies in a function of a header; and it may have a caller.
static bool in_kernel(const struct finding_place *p)
{
    return p->file && !strcmp(p->file, step_kernel());
}

// The mutant's own line, or one that calls it.
static bool names(const struct mutants *s, const struct finding_place *p, const struct mutant *m)
{
    if (!p->file || m->file != s->n_files - 1)
        return p->file && !strcmp(p->file, s->files[m->file].path) && p->line == m->line;
    return p->caller == m->line || (in_kernel(p) && p->line == m->line);
}

// A line that has the array, or (NULL) any tile or mbarrier.
static bool uses(const struct mutants *s, const struct finding_place *p, const char *array)
{
    return p->file && (mutants_line_has(s, p->caller, array) || (in_kernel(p) && mutants_line_has(s, p->line, array)));
}

// A line on the way of C, or of a tile, through shared memory.
static bool stores(const struct mutants *s, const struct finding_place *p)
{
    return uses(s, p, NULL) || uses(s, p, "acc") || uses(s, p, "tma_store") || uses(s, p, "stmatrix") ||
           uses(s, p, "C") || uses(s, p, "load_from");
}

// A line of a header that more than one place may have called: clang does not say from where.
static bool caller_unknown(const struct finding_place *p)
{
    return !BY_NVCC && p->file && !in_kernel(p) && !p->caller;
}

bool mutant_in_result(const struct mutants *s, const struct mutant *m)
{
    const enum mutant_rule rule = m->rule;
    return (rule == MUTANT_GUARD && s->in_for[m->edits[0].from]) || rule == MUTANT_STAGE || rule == MUTANT_TMA ||
           rule == MUTANT_WGMMA || rule == MUTANT_STORE || rule == MUTANT_PLACE;
}

enum verdict mutant_fits(const struct mutants *s, const struct mutant *m, const struct finding *f)
{
    switch (m->rule) {
    case MUTANT_BARRIER:
        if (!strcmp(f->check, "racecheck") && uses(s, &f->here, NULL) && uses(s, &f->there, NULL))
            return FOUND;
        break;
    case MUTANT_INDEX:
        if (names(s, &f->here, m) || names(s, &f->there, m))
            return FOUND;
        if (uses(s, &f->here, m->array) || uses(s, &f->there, m->array) || stores(s, &f->here) || stores(s, &f->there))
            return SHOWS;
        break;
    case MUTANT_GUARD:
        if (strstr(f->text, " of A") || strstr(f->text, " of B") || strstr(f->text, " of C") || uses(s, &f->here, NULL))
            return FOUND;
        if (stores(s, &f->here) || stores(s, &f->there))
            return SHOWS;
        break;
    case MUTANT_INITIALISER:
        if (!strcmp(f->kind, "uninitialised") && uses(s, &f->here, "acc"))
            return FOUND;
        break;
    case MUTANT_COPY:
        if (!strcmp(f->check, "racecheck") && (uses(s, &f->here, NULL) || uses(s, &f->there, NULL)))
            return FOUND;
        break;
    case MUTANT_STAGE:
        if (uses(s, &f->here, NULL) || uses(s, &f->there, NULL))
            return FOUND;
        break;
    case MUTANT_ROLE:
        if (!strcmp(f->kind, "setmaxnreg") &&
            (mutants_line_has(s, m->line, "fewer_registers") || mutants_line_has(s, m->line, "more_registers")))
            return FOUND;
    // fall through
    case MUTANT_MBARRIER:
    case MUTANT_TMA:
    case MUTANT_WGMMA:
    case MUTANT_STORE:
    case MUTANT_PLACE:
        if (names(s, &f->here, m) || names(s, &f->there, m))
            return FOUND;
        if (stores(s, &f->here) || stores(s, &f->there))
            return SHOWS;
        break;
    case MUTANT_RULES:
        break;
    }
    return caller_unknown(&f->here) || caller_unknown(&f->there) ? SHOWS : ELSEWHERE;
}
