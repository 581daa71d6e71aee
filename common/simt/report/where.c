// Source lines of PTX instructions. See report.h.
#include "report.h"

// The call that loc was inlined for, NULL if it was not; for a line of a header the one in the kernel's own file.
static const struct ptx_loc *call_of(const struct ptx_module *m, const struct ptx_loc *loc)
{
    const struct ptx_loc *outer = loc, *call = ptx_caller(m, loc);
    while (outer->at)
        outer = ptx_caller(m, outer);
    while (call && call->file != outer->file && loc->file != outer->file)
        call = ptx_caller(m, call);
    return call;
}

struct simt_finding_place report_place(const struct simt_kernel *k, uint32_t inst)
{
    const struct ptx_module *m = k->module->ptx;
    const struct ptx_inst *in = &k->func->insts[inst];
    const struct ptx_loc *loc = ptx_loc_of(m, in), *call = loc ? call_of(m, loc) : NULL;
    if (!loc)
        return (struct simt_finding_place){ .file = m->file, .line = ptx_line(m, in->at), .in_ptx = true };
    return (struct simt_finding_place){ .file = ptx_source_name(m, loc->file),
                                        .line = loc->line,
                                        .caller_file = call ? ptx_source_name(m, call->file) : NULL,
                                        .caller = call ? call->line : 0 };
}

void report_where(const struct simt_kernel *k, uint32_t inst, char *out, size_t size)
{
    const struct simt_finding_place p = report_place(k, inst);
    simt_finding_place_text(&p, out, size);
}
