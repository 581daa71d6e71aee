// See meaning.h.
#include "meaning.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/source.h"
#include "base/text.h"

bool meaning_reads_c(const struct simt_finding *f, const struct tester_options *o)
{
    const struct simt_object *x = &f->object;
    return f->kind == SIMT_UNINIT_MEMORY && x->space == SIMT_GLOBAL && x->name && !strcmp(x->name, "C") && o->beta == 0;
}

static const char *look(const void *context, const struct simt_finding *f)
{
    return meaning_reads_c(f, context) ? "who should have written it? With beta = 0, C must not be read" : NULL;
}

struct simt_advice meaning_advice(const struct tester_options *o)
{
    return (struct simt_advice){ look, o, o->command, "" };
}

// An access to an mbarrier by an instruction of its own, or by a copy that reports to it: no use of data.
static bool is_mbarrier(const struct simt_finding *f)
{
    return f->here.instruction && text_begins(f->here.instruction, "mbarrier.");
}

// Is an mbarrier used that was not initialised, or that its user does not know to be?
static bool is_unmade(const struct simt_finding *f)
{
    return f->kind == SIMT_RACE_INIT || f->kind == SIMT_ARRIVES_UNMADE || f->kind == SIMT_EXPECTS_UNMADE ||
           (f->kind == SIMT_UNINIT_MEMORY && is_mbarrier(f));
}

// Do two copies write the same bytes?
static bool is_copied_twice(const struct simt_finding *f)
{
    return f->kind == SIMT_COPIES_OVERLAP ||
           (f->kind == SIMT_COPY_PENDING && f->here.by != SIMT_BY_THREAD && f->here.access == SIMT_WRITES);
}

// A thread's cp.async that a thread of another warp meets: the wait for it may be right, and the barrier behind that
// wait is missing.
static bool is_others_copy(const struct simt_finding *f)
{
    return f->kind == SIMT_COPY_PENDING && f->here.by == SIMT_BY_THREAD && f->there.by == SIMT_BY_CP_ASYNC &&
           f->here.warp != f->there.warp;
}

int meaning_rank(const struct simt_finding *f)
{
    enum { ALIGNMENT, BEFORE, UNMADE, SYNC, FENCE, COPY, COPIED_TWICE, RACE, UNWRITTEN, RUN };
    static const int of_class[SIMT_CLASSES] = {
        [SIMT_CLASS_FENCE] = FENCE, [SIMT_CLASS_WGMMA] = FENCE, [SIMT_CLASS_COPY] = COPY,  [SIMT_CLASS_LAUNCH] = COPY,
        [SIMT_CLASS_RACE] = RACE,   [SIMT_CLASS_LEFT] = RUN,    [SIMT_CLASS_PRODUCT] = RUN
    };
    static const int of_check[] = { [SIMT_MEMCHECK] = BEFORE,
                                    [SIMT_SYNCCHECK] = SYNC,
                                    [SIMT_INITCHECK] = UNWRITTEN,
                                    [SIMT_RACECHECK] = RACE,
                                    [SIMT_RUN] = RUN };
    const int rank = of_class[simt_finding_class(f->kind)];
    if (f->kind == SIMT_MISALIGNED)
        return ALIGNMENT;
    if (is_unmade(f))
        return UNMADE;
    if (is_others_copy(f))
        return RACE;
    if (is_copied_twice(f))
        return COPIED_TWICE;
    return rank ? rank : of_check[simt_finding_check(f->kind)];
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

// One statement of the kernel, reached from one place: no barrier is missing inside of it.
static bool is_one_place(const struct simt_finding_place *a, const struct simt_finding_place *b)
{
    return a->line == b->line && a->caller == b->caller && same_text(a->file, b->file) &&
           same_text(a->caller_file, b->caller_file);
}

bool meaning_is_copy(const struct simt_side *s)
{
    return s->access == SIMT_WRITES &&
           (s->by == SIMT_BY_CP_ASYNC || (s->instruction && text_begins(s->instruction, "cp.async.c")));
}

bool meaning_is_one_place(const struct simt_finding *f)
{
    return simt_finding_class(f->kind) == SIMT_CLASS_RACE && is_one_place(&f->here.place, &f->there.place);
}

// In the kernel's own file: of a header the line that calls it.
static unsigned own_line(const struct simt_finding_place *p)
{
    return p->file && source_is_header(p->file) && p->caller_file ? p->caller : p->line;
}

const struct simt_finding *meaning_unwritten_stage(const struct simt_finding *race, const struct simt_findings *found)
{
    const struct simt_side *read = race->here.access == SIMT_READS ? &race->here : &race->there;
    const struct simt_side *write = read == &race->here ? &race->there : &race->here;
    if (race->kind != SIMT_RACE || race->object.space != SIMT_SHARED || read->access != SIMT_READS ||
        write->access != SIMT_WRITES || write->by != SIMT_BY_THREAD)
        return NULL;
    for (size_t i = 0; i < found->n; i++) {
        const struct simt_finding *f = &found->all[i];
        if (f->kind == SIMT_UNINIT_MEMORY && f->object.space == SIMT_SHARED && !is_mbarrier(f) &&
            own_line(&f->here.place) == own_line(&read->place))
            return f;
    }
    return NULL;
}

enum { LINE = 160, NAME = MEANING_NAME };

// The array whose address the side's line takes, or its call's for a line of a header: As of "&As[stage + i]". Of an
// assignment, what is read stands behind it, and what is written before it.
void meaning_array(const struct simt_side *s, char name[MEANING_NAME])
{
    const struct simt_finding_place *p = &s->place;
    char text[LINE] = "";
    if (p->file && source_is_header(p->file) && p->caller_file)
        source_text(p->caller_file, p->caller, text, sizeof text);
    else if (p->file)
        source_text(p->file, p->line, text, sizeof text);
    const char *assigned = strstr(text, " = ");
    *name = 0;
    const char *end = assigned && s->access == SIMT_WRITES ? assigned : text + strlen(text);
    for (const char *at = assigned && s->access == SIMT_READS ? assigned : text; at < end && !*name; at++) {
        size_t n = 0;
        while (*at == '&' && (isalnum((unsigned char)at[1 + n]) || at[1 + n] == '_'))
            n++;
        if (n && n < NAME && at[1 + n] == '[')
            snprintf(name, n + 1, "%s", at + 1);
    }
}

bool meaning_arrays(const struct simt_finding *f, char here[MEANING_NAME], char there[MEANING_NAME])
{
    meaning_array(&f->here, here);
    meaning_array(&f->there, there);
    return f->object.space == SIMT_SHARED && *here && *there && strcmp(here, there) != 0;
}

// What two accesses that nothing orders, or a copy that is under way, are due to.
static const char *text_of_order(const struct simt_finding *f)
{
    char here[NAME], there[NAME];
    const bool copied = meaning_is_copy(&f->there);
    if (f->kind == SIMT_RACE_INIT)
        return "a barrier is missing between the mbarrier's initialisation and its first use";
    if (is_copied_twice(f))
        return "two copies write to the same bytes: an index or the stage is wrong, two arrays overlap in shared "
               "memory, or the first is to be waited for";
    if (is_others_copy(f))
        return "a copy of another thread is on its way: that thread's wait for it, or the barrier behind the wait, is "
               "missing";
    if (f->kind == SIMT_COPY_PENDING && f->there.by == SIMT_BY_CP_ASYNC)
        return "a copy is on its way: the wait for it is missing or leaves too many groups unfinished, or it is the "
               "wrong tile that is copied or read";
    if (f->kind == SIMT_RACE && copied && f->here.access == SIMT_READS)
        return "no barrier stands between another thread's wait for its copy and this read: first the wait, then the "
               "barrier";
    if (simt_finding_class(f->kind) == SIMT_CLASS_RACE && f->there.access == SIMT_READS) {
        if (f->there.by == SIMT_BY_WGMMA)
            return "a wgmma may still read these bytes: the wait for its products, or the barrier behind that wait, is "
                   "missing or comes too late, or the mbarrier that tells of it has more arrivals than it waits for";
        if (f->there.by == SIMT_BY_BULK_COPY)
            return "a bulk store may still read these bytes: it is not committed, or the wait for it or the barrier "
                   "behind "
                   "that wait is missing or comes too late";
    }
    if (meaning_is_one_place(f))
        return "two threads meet in one place, so the index on this line is wrong";
    if (simt_finding_class(f->kind) == SIMT_CLASS_RACE && meaning_arrays(f, here, there))
        return f->here.access == SIMT_WRITES && f->there.access == SIMT_WRITES
                   ? "two arrays overlap in shared memory, or a barrier is missing between their uses"
                   : "a barrier is missing between the uses of two arrays that share these bytes of shared memory, or "
                     "the two overlap by mistake";
    return NULL;
}

// Whether all rows of the matrix begin at a multiple of that many bytes.
static bool rows_begin_at(const struct simt_finding *f, const struct tester_options *o, uint32_t bytes)
{
    const char name = f->object.name && !f->object.name[1] ? f->object.name[0] : 0;
    const uint64_t elements = name == 'A'   ? (uint64_t)o->m * (uint64_t)o->k
                              : name == 'B' ? (uint64_t)o->k * (uint64_t)o->n
                              : name == 'C' ? (uint64_t)o->m * (uint64_t)o->n
                                            : 0;
    return elements && bytes && f->object.bytes / elements * (uint64_t)(name == 'A' ? o->k : o->n) % bytes == 0;
}

// An access out of bounds, or at an address that is no multiple of its size.
static const char *text_of_address(const struct simt_finding *f, const struct tester_options *o)
{
    const enum simt_space space = f->object.space;
    if (f->kind == SIMT_MISALIGNED && space == SIMT_GLOBAL && rows_begin_at(f, o, f->bytes))
        return "a vector access whose first column is no multiple of its elements: all rows begin at a multiple of "
               "its size";
    if (f->kind == SIMT_MISALIGNED)
        return space == SIMT_GLOBAL
                   ? "a vector access to rows that do not all begin at a multiple of its size: which lengths of rows "
                     "is "
                     "it for, and who asks for them?"
                   : "a vector access at an address that is no multiple of its size: an index, or the length of a row "
                     "with its padding, is none either";
    if (space == SIMT_SHARED)
        return "an index into shared memory is wrong, or the array is too small for it";
    if (space == SIMT_LOCAL)
        return "an index into the thread's own array is wrong, or a loop around it runs too far";
    return "an index is wrong, or its bounds check is missing";
}

const char *meaning_text(const struct simt_finding *f, const struct tester_options *o)
{
    static const char *const of_class[SIMT_CLASSES] = {
        [SIMT_CLASS_VALUE] = "a variable is used before it is set",
        [SIMT_CLASS_COPY] = "a copy is on its way: the wait for it is missing, or is for another phase or stage",
        [SIMT_CLASS_BYTES] = "an mbarrier expects other bytes than its copies bring",
        [SIMT_CLASS_FENCE] = "a fence is missing before an asynchronous copy or a wgmma",
        [SIMT_CLASS_WGMMA] = "a wgmma.fence before, or a commit and a wait after the product is missing",
        [SIMT_CLASS_PRODUCT] = "a product that nobody waits for",
        [SIMT_CLASS_DESCRIPTOR] = "a descriptor of wgmma is wrong",
        [SIMT_CLASS_WARPGROUP] = "the four warps of a warpgroup do not do the same",
        [SIMT_CLASS_REGISTERS] = "setmaxnreg asks for registers that are not there, or not of the whole warpgroup",
        [SIMT_CLASS_LEFT] = "a copy that nobody waits for",
        [SIMT_CLASS_LAUNCH] = "the wait for the launch before is missing, or comes too late",
    };
    static const char *const of_check[] = {
        [SIMT_RUN] = "the kernel does not end",
        [SIMT_MEMCHECK] = "an index is wrong, or a bounds check is missing",
        [SIMT_INITCHECK] = "something is read that was never written",
        [SIMT_RACECHECK] = "a barrier is missing, or an index is wrong",
        [SIMT_SYNCCHECK] = "a barrier that not all threads reach",
    };
    const enum simt_finding_class class = simt_finding_class(f->kind);
    const char *order;
    if (meaning_reads_c(f, o))
        return "C is read although beta is 0";
    if (is_unmade(f) && f->kind != SIMT_RACE_INIT)
        return "an mbarrier is used that was not initialised: which ones does mbarrier.init reach, and is a barrier "
               "behind it?";
    if ((order = text_of_order(f)))
        return order;
    if (simt_finding_check(f->kind) == SIMT_MEMCHECK && f->object.space != SIMT_NOWHERE)
        return text_of_address(f, o);
    return of_class[class] ? of_class[class] : of_check[simt_finding_check(f->kind)];
}
