// See watch_case.h.
#include "watch_case.h"

#include <criterion/criterion.h>
#include <string.h>

// Two warps. Each adds 1 to its words of out, three times; then stores them to s, and reads the other warp's.
const char watch_case_text[] =
    WATCH_HEAD ".visible .entry k(.param .u64 out)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<9>;\n.reg .b64 %l<4>;\n"
               ".shared .align 4 .b8 s[256];\n"
               "mov.u32 %r1, %tid.x;\nmov.u32 %r7, 0;\n"                                                // 0, 1
               "ld.param.u64 %l1, [out];\nmul.wide.u32 %l2, %r1, 4;\nadd.s64 %l3, %l1, %l2;\n"          // 2, 3, 4
               "$again:\nld.global.u32 %r2, [%l3];\nadd.s32 %r2, %r2, 1;\nst.global.u32 [%l3], %r2;\n"  // 5, 6, 7
               "add.s32 %r7, %r7, 1;\nsetp.lt.u32 %p1, %r7, 3;\n@%p1 bra $again;\n"                     // 8, 9, 10
               "shl.b32 %r3, %r1, 2;\nmov.u32 %r4, s;\nadd.s32 %r5, %r4, %r3;\n"                        // 11, 12, 13
               "st.shared.u32 [%r5], %r2;\nbar.sync 0;\n"                                               // 14, 15
               "xor.b32 %r6, %r3, 128;\nadd.s32 %r6, %r4, %r6;\nld.shared.u32 %r8, [%r6];\n"            // 16, 17, 18
               "st.global.u32 [%l3], %r8;\nret;\n}\n";                                                  // 19, 20

void watch_case_open(struct watch_case *c, const char *ptx, unsigned threads)
{
    *c = (struct watch_case){ .simt = simt_open() };
    simt_set_checks(c->simt, true);
    struct simt_module *m = simt_load(c->simt, "case.ptx", ptx, strlen(ptx), c->error);
    cr_assert(m, "%s", c->error);
    c->kernel = simt_kernel_search(m, "k", c->error);
    cr_assert(c->kernel, "%s", c->error);
    cr_assert(simt_alloc(c->simt, "out", sizeof(uint32_t) * threads, &c->out, c->error), "%s", c->error);
    cr_assert(simt_clear(c->simt, c->out, sizeof(uint32_t) * threads, c->error), "%s", c->error);
    c->args[0] = (struct dev_arg)DEV_ARG(c->out);
    c->launch = (struct dev_launch){ .block = { threads }, .args = c->args, .n_args = 1 };
    c->watch = watch_open(c->simt, c->kernel, &c->launch, 0, c->error);
    cr_assert(c->watch, "%s", c->error);
}

void watch_case_close(struct watch_case *c)
{
    watch_close(c->watch);
    simt_close(c->simt);
}

struct asking {
    uint32_t warp, lane;
    int64_t number;
    uint64_t value;
    bool known;
};

static bool see(void *context, uint64_t moment, const struct simt_look *look)
{
    struct asking *a = context;
    uint64_t value[32];
    (void)moment;
    a->known = a->number >= 0 && simt_look_value(look, a->warp, (uint32_t)a->number, value);
    a->value = a->known ? value[a->lane] : 0;
    return false;
}

uint64_t watch_case_value(struct watch_case *c, uint64_t moment, uint32_t warp, uint32_t lane, const char *name)
{
    struct asking a = { .warp = warp, .lane = lane, .number = simt_register_number(c->kernel, name) };
    cr_assert(watch_run(c->watch, moment, moment, see, &a, c->error), "%s", c->error);
    cr_assert(a.known, "%s of warp %u is not known after step %llu", name, warp, (unsigned long long)moment);
    return a.value;
}
