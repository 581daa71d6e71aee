// What the checks found in a launch, against what a test expects: by kind and fields.
#pragma once

#include "ptx_case.h"
#include "simt/simt.h"

// Of a finding. A field that is 0 may be anything; numbers that may be 0 themselves are given by THE(number).
struct found {
    enum simt_finding_kind kind;
    struct found_side {
        unsigned line, thread;  // within the block, by THE
        enum simt_access access;
        enum simt_by by;
    } here, there;
    unsigned block;          // of here: its x, by THE
    const char *reports_to;  // an mbarrier's name, where object is another one
    const char *object;      // its name, or that of the mbarrier; "": it has none
    enum simt_space space;
    uint64_t at;  // a byte of it, by THE
    uint64_t size;
    bool freed;
    enum simt_owner owner;
    uint64_t bytes, count, expected, seen, left;
    uint32_t lanes;
    unsigned phase;  // of the mbarrier, by THE
    const char *instruction, *detail;
    const char *place;        // of here, as text
    unsigned use, used_line;  // by THE; where, if not here
    struct found_wait {       // one of those that wait for ever
        const char *mbarrier;
        uint32_t warps;
        unsigned phase;  // by THE
        uint32_t arrivals;
        int64_t bytes;
    } wait;
};
#define THE(number) ((unsigned)(number) + 1)
#define BEFORE(bytes) (1 - (uint64_t)(bytes))
#define ANY -1
#define SUCH(...) (&(struct found){ .kind = __VA_ARGS__ })
#define HERE(at_line, at_thread, how) .here.line = (at_line), .here.thread = THE(at_thread), .here.access = SIMT_##how
#define THERE(at_line, at_thread, how)                                                                                 \
    .there.line = (at_line), .there.thread = THE(at_thread), .there.access = SIMT_##how
#define OF(name, byte) .object = (name), .at = THE(byte)

bool found_is(const struct simt_finding *f, const struct found *want);
// The first that is; NULL: none.
const struct simt_finding *found_among(const struct simt_findings *all, const struct found *want);
// Expects that it is among all of them. what: in the message, if not.
void found_expect(const struct simt_findings *all, const struct found *want, const char *what);

// Expects that the last launch of the simulated device failed by such an error, of which dev_error has one line.
void found_failed(const struct dev *d, const struct found *want);
// Runs the text's kernel k (ptx_run) and expects the same. out has a word for each thread, in has 256; budget: see
// dev_set_budget.
void found_fails(const char *text, struct ptx_shape shape, uint64_t budget, const struct found *want);

// The text of the first finding, "" if there is none, and all of them as they are printed; valid until the next call.
const char *found_first(const struct simt_findings *all);
const char *found_text(const struct simt_findings *all);
