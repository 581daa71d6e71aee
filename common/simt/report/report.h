// What a launch has to tell: its counters as a profile, its faults as text, its findings.
#ifndef SIMT_REPORT_H
#define SIMT_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/findings.h"
#include "base/profile.h"
#include "simt/code/module.h"
#include "simt/code/warp.h"

struct found;

// where.c: the source line of a PTX instruction as "kernel.cu:38", with the call where it was inlined.
void report_where(const struct simt_kernel *k, uint32_t inst, char *out, size_t size);
// The call that loc was inlined for, NULL if it was not; for a line of a header the one in the kernel's own file.
const struct ptx_loc *report_call(const struct ptx_module *m, const struct ptx_loc *loc);

// fault_text.c: a fault as one line; the second without the kernel's name.
void report_fault(const struct simt_kernel *k, const struct grid *g, const struct fault *f, char text[DEV_ERROR_MAX]);
void report_fault_short(const struct simt_kernel *k, const struct grid *g, const struct fault *f,
                        char text[DEV_ERROR_MAX]);

// report_profile.c: the counters of a launch, which sum has. Its names are in *names, an arena that takes the place of
// the one before. False when memory runs out.
bool report_profile(struct profile *p, struct arena **names, const struct simt_kernel *k, const struct grid *g,
                    const struct worker *sum);

// report_findings.c: what the checks found, n of them. Their texts are in *texts, an arena that takes the place of the
// one before. False when memory runs out.
bool report_findings(struct findings *out, struct arena **texts, const struct simt_kernel *k, const struct grid *g,
                     const struct found *found, size_t n);

// look_async.c: what to look at where a bulk copy or wgmma takes part; NULL for other findings.
const char *report_look_async(const struct fault *f);

#endif
