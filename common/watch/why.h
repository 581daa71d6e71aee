// Why warps wait for ever: for what, whose arrival is missing, where he stands instead, and what led him there.
//
// The reasons are a list. First comes what warps wait for (WATCH_WAITS); behind each wait what explains it, and behind
// that what explains the explanation. watch_reason_text makes a line of each.
#pragma once

#include "watch.h"

enum watch_reason_kind {
    WATCH_WAITS,   // warps wait: for an mbarrier, a barrier, lanes of their warp, the cluster
    WATCH_LACKS,   // an arrival is missing: of these warps, or of any, at this instruction
    WATCH_NOBODY,  // the same, and no instruction of the kernel arrives there; the instruction is its initialiser
    WATCH_COUNT,   // the same, and all who ever arrived there have come; so is the instruction
    WATCH_CAME,    // who these are, and where they came
    WATCH_BYTES,   // bytes are missing, or too many have come; the instruction is the one that said how many, or a copy
    WATCH_STANDS,  // where a warp stands whose arrival is missing: it waits, too (`to`), or has ended, or goes on
    WATCH_DECIDED,  // a branch, or a guard, led it past the instruction
    WATCH_PARITY,   // nothing has come to the mbarrier yet: a wait for the other phase would end at once
    WATCH_CIRCLE    // the warps of this wait and of others wait for each other
};

struct watch_reason {
    enum watch_reason_kind kind;
    uint32_t of;              // the number of the reason that it explains; its own for WATCH_WAITS
    uint32_t to;              // WATCH_STANDS: the number of the warp's own wait, or of none: UINT32_MAX
    uint32_t warps, lanes;    // a bit for each; lanes 0: all of them, or not known
    uint32_t instruction;     // UINT32_MAX: none
    unsigned line;            // of that, in the kernel's own file
    enum simt_wait_for wait;  // WATCH_WAITS: for what; WATCH_STANDS: SIMT_ENDED, SIMT_FOR_VALUE: it goes on, or a wait
    uint32_t at;              // of the mbarrier, or the barrier's number
    uint32_t parity;          // of the phase that they wait for
    uint32_t pending;         // arrivals, or threads, that are missing
    uint32_t expected;        // of so many
    int64_t bytes;            // that are missing there
    uint64_t moment;          // of the step of the instruction, or WATCH_NONE
    char condition[200];      // WATCH_DECIDED: "tile < tiles: 6 < 6 is false", or empty
};

// Why warps wait at that moment, which is usually the last. The caller frees *all. 0: none waits, or, with a line in
// error, it cannot be told.
size_t watch_why(struct watch *w, uint64_t moment, struct watch_reason **all, char error[DEV_ERROR_MAX]);
// One line: "warps 4 to 7 wait for full[2], phase 1 (kernel.cu:93)".
void watch_reason_text(const struct watch *w, const struct watch_reason *r, char text[WATCH_TEXT]);
// The array "why" in the open object j: "kind", "of", "warps", "instruction", "line", "moment", "text".
bool watch_why_json(struct watch *w, uint64_t moment, struct json *j, char error[DEV_ERROR_MAX]);
