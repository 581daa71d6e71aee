// Registers and local memory that are read before anything wrote them: what a run gives, what the checks find, and what
// they must not find.
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "findings.h"
#include "ptx_case.h"

// A kernel whose thread is %r0; %l2 is the address of its word of out, %l3 that of its word of in. Nothing has written
// the other registers.
#define KERNEL(local, body)                                                                                            \
    PTX_HEAD ".file 1 \"kernel.cu\"\n.visible .entry k(.param .u64 out, .param .u64 in)\n{\n" local                    \
             ".reg .pred %p<8>;\n.reg .b16 %h<8>;\n.reg .b32 %r<16>;\n.reg .f32 %f<8>;\n.reg .b64 %l<12>;\n"           \
             "ld.param.u64 %l0, [out];\nld.param.u64 %l1, [in];\nmov.u32 %r0, %tid.x;\n"                               \
             "mad.wide.u32 %l2, %r0, 4, %l0;\nmad.wide.u32 %l3, %r0, 4, %l1;\n" body "ret;\n}\n"

enum { WORDS = 64 };
static const struct ptx_shape warp = { 1, 32, 0 };

Test(registers, nothing_wrote_them_shows_in_the_result)
{
    static const char text[] = KERNEL(".local .align 4 .b32 x[4];\n", "add.f32 %f1, %f0, 0f3F800000;\n"
                                                                      "ld.local.f32 %f2, [x];\nadd.f32 %f1, %f1, %f2;\n"
                                                                      "st.global.f32 [%l2], %f1;\n");
    uint32_t out[WORDS] = { 0 }, in[WORDS] = { 0 };
    struct dev *d = ptx_simulator();
    cr_assert(ptx_run(d, text, warp, out, WORDS, in, WORDS), "%s", dev_error(d));
    for (int i = 0; i < 32; i++)
        cr_expect_lt(ptx_float(out[i]), -1e7f, "thread %d has %g", i, (double)ptx_float(out[i]));
    dev_close(d);
}
