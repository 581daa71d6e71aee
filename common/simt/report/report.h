// What a launch has to tell: its counters as a profile, its faults as text, its findings.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/profile.h"
#include "simt/code/module.h"
#include "simt/code/warp.h"
#include "simt/findings.h"

struct found;

// where.c: the source line of a PTX instruction, with the call where it was inlined. Its names are the module's.
struct simt_finding_place report_place(const struct simt_kernel *k, uint32_t inst);
// The same as text, "kernel.cu:38".
void report_where(const struct simt_kernel *k, uint32_t inst, char *out, size_t size);

// report_profile.c: the counters of a launch, which sum has. Its names are in *names, an arena that takes the place of
// the one before. False when memory runs out.
bool report_profile(struct profile *p, struct arena **names, const struct simt_kernel *k, const struct grid *g,
                    const struct worker *sum);

// report_findings.c: what the checks found, n of them. Their names are in *names, an arena that takes the place of the
// one before. False when memory runs out.
bool report_findings(struct simt_findings *out, struct arena **names, const struct simt_kernel *k, const struct grid *g,
                     const struct found *found, size_t n);
// The fault of a launch that failed, as a finding, whose names are as above, and as one line with the kernel's name.
void report_fault(struct simt_finding *x, struct arena **names, const struct simt_kernel *k, const struct grid *g,
                  const struct fault *f, char text[DEV_ERROR_MAX]);
// What a device pointer names. Its name is the allocation's.
void report_memory(struct simt_object *o, const struct memory *m, uint64_t address);
