// Source lines of PTX instructions. See report.h.
#include "report.h"

#include <stdio.h>

#include "base/source.h"

const struct ptx_loc *report_call(const struct ptx_module *m, const struct ptx_loc *loc)
{
    const struct ptx_loc *outer = loc, *call = ptx_caller(m, loc);
    while (outer->at)
        outer = ptx_caller(m, outer);
    while (call && call->file != outer->file && loc->file != outer->file)
        call = ptx_caller(m, call);
    return call;
}

void report_where(const struct simt_kernel *k, uint32_t inst, char *out, size_t size)
{
    const struct ptx_module *m = k->module->ptx;
    const struct ptx_inst *in = &k->func->insts[inst];
    const struct ptx_loc *loc = ptx_loc_of(m, in);
    if (!loc) {
        snprintf(out, size, "%.300s:%u", m->file, ptx_line(m, in->at));
        return;
    }
    int n = snprintf(out, size, "%.300s:%u", source_base_name(ptx_source_name(m, loc->file)), loc->line);
    const struct ptx_loc *call = report_call(m, loc);
    if (!call || n <= 0 || (size_t)n >= size)
        return;
    if (call->file == loc->file)
        snprintf(out + n, size - (size_t)n, ", called from line %u", call->line);
    else
        snprintf(out + n, size - (size_t)n, ", called from %.60s:%u", source_base_name(ptx_source_name(m, call->file)),
                 call->line);
}
