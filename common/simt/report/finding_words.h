// The words of a finding: places, threads, and what bytes are of.
#pragma once

#include "base/text.h"
#include "simt/findings.h"

void finding_where(struct text_end *t, const struct simt_finding_place *p);  // "kernel.cu:55"
void finding_block(struct text_end *t, const uint32_t block[3]);             // "block (0,0,0)"
void finding_thread(struct text_end *t, const struct simt_side *s);          // "thread (0,0,0)"
void finding_object(struct text_end *t, const struct simt_object *o);        // "byte 4 of As (shared memory)"
bool finding_same_block(const struct simt_finding *f);                       // are both sides of one block?
void finding_other(struct text_end *t,
                   const struct simt_finding *f);  // the other thread, with its block if that differs
