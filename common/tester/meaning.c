// See meaning.h.
#include "meaning.h"

#include <string.h>

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
    return (struct simt_advice){ look, o };
}

int meaning_rank(const struct simt_finding *f)
{
    static const int ranks[] = {
        [SIMT_MEMCHECK] = 0, [SIMT_SYNCCHECK] = 1, [SIMT_RACECHECK] = 2, [SIMT_INITCHECK] = 3, [SIMT_RUN] = 4
    };
    const enum simt_finding_class class = simt_finding_class(f->kind);
    return class == SIMT_CLASS_LEFT || class == SIMT_CLASS_PRODUCT ? ranks[SIMT_RUN]
                                                                   : ranks[simt_finding_check(f->kind)];
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
        [SIMT_RUN] = "the kernel does not get to its end",
        [SIMT_MEMCHECK] = "an index is wrong, or a bounds check is missing",
        [SIMT_INITCHECK] = "something is read that was never written",
        [SIMT_RACECHECK] = "a barrier is missing, or an index is wrong",
        [SIMT_SYNCCHECK] = "a barrier that not all threads reach",
    };
    const enum simt_finding_class class = simt_finding_class(f->kind);
    if (meaning_reads_c(f, o))
        return "C is read although beta is 0";
    if (class == SIMT_CLASS_RACE && f->here.place.line == f->there.place.line)
        return "two threads meet in one place, so the index on this line is wrong";
    return of_class[class] ? of_class[class] : of_check[simt_finding_check(f->kind)];
}
