// Small PTX kernels of one warp or block that end in an error.
#pragma once

#include "found.h"
#include "ptx_case.h"

// MODULE(body): a kernel k(out, in), whose body leaves in %r3 what thread %r1 stores; its line is 77 of kernel.cu.
#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
#define REGS                                                                                                           \
    ".reg .pred %p<8>;\n.reg .b32 %r<24>;\n.reg .b64 %l<8>;\nld.param.u64 %l0, [out];\nld.param.u64 %l1, [in];\n"      \
    "mov.u32 %r1, %tid.x;\nmad.wide.u32 %l2, %r1, 4, %l0;\nmov.u32 %r3, 0;\n.loc 1 77 0\n"
#define ENTRY ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n" REGS
#define LEAVE "st.global.u32 [%l2], %r3;\nret;\n}\n.file 1 \"kernel.cu\"\n"
#define MODULE(body) HEAD ENTRY body LEAVE
#define PARTS(...) ((const char *const[]){ __VA_ARGS__, NULL })

// On the simulated GPU, one block of so many threads fails by such an error (found.h), at that line.
#define FAILS(body, threads, ...)                                                                                      \
    found_fails(MODULE(body), (struct ptx_shape){ 1, threads, 0 }, 0, SUCH(__VA_ARGS__, .place = "kernel.cu:77"))

// On the simulated GPU, one block of so many threads fails, and its error, one line, has all the parts.
void expect_failure(const char *text, unsigned threads, const char *const *parts);
