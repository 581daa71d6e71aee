// What findings of the checks mean for a product of matrices: what the simulated GPU cannot know.
#pragma once

#include "simt/simt.h"
#include "step.h"

// Is it a read of the C that the tester allocated, and has not written because beta is 0?
bool meaning_reads_c(const struct simt_finding *f, const struct tester_options *o);

// What the tester says to look at, for a run with these options.
struct simt_advice meaning_advice(const struct tester_options *o);

// In the order in which they are believed, from 0: an access out of bounds makes others read uninitialised memory, an
// mbarrier that was not initialised opens at once, a copy that is not waited for makes its readers race, and so on. A
// copy that is left behind, and a kernel that does not end, tell least.
int meaning_rank(const struct simt_finding *f);

// The mistake that is behind it, in a few words.
const char *meaning_text(const struct simt_finding *f, const struct tester_options *o);

// The array whose address the side's line takes: As of "&As[stage + i]", which may be a part of what the kernel
// declares. Empty if none is to be seen.
enum { MEANING_NAME = 40 };
void meaning_array(const struct simt_side *s, char name[MEANING_NAME]);

// Whether the two sides mean two arrays, which share these bytes of shared memory: their names.
bool meaning_arrays(const struct simt_finding *f, char here[MEANING_NAME], char there[MEANING_NAME]);

// Of a race in shared memory between a read and a thread's store: the read, on the same line, of bytes that nothing has
// written before. NULL: there is none.
const struct simt_finding *meaning_unwritten_stage(const struct simt_finding *race, const struct simt_findings *found);

// Whether a thread's cp.async wrote there, whether it has been waited for or not.
bool meaning_is_copy(const struct simt_side *s);

// Whether two threads meet in one statement: there is no barrier to be missed, but its index is wrong.
bool meaning_is_one_place(const struct simt_finding *f);
