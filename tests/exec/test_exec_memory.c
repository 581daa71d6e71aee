// Memory: every state space and how it is addressed, vectors, narrow types, initialised variables - on every device -
// and what the simulated GPU says about an access that is out of bounds or misaligned.
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "found.h"
#include "simt/device/state.h"

// Thread %r1 of one block writes %r3 to out[thread]; %l1 is in.
#define ENTRY                                                                                                          \
    ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n.reg .pred %p<4>;\n.reg .b16 %h<4>;\n.reg .b32 %r<24>;\n"  \
    ".reg .b64 %l<12>;\nld.param.u64 %l0, [out];\nld.param.u64 %l1, [in];\nmov.u32 %r1, %tid.x;\n"                     \
    "mad.wide.u32 %l2, %r1, 4, %l0;\nmov.u32 %r3, 0;\n"
#define LEAVE "st.global.u32 [%l2], %r3;\nret;\n}\n"
#define MODULE(body) PTX_HEAD ENTRY body LEAVE
#define FILES ".file 1 \"/src/kernel.cu\"\n"

enum { THREADS = 64, WORDS = 256 };

static uint32_t input(uint32_t i)
{
    return 0x80c0e0f0u * (i + 1) + i;
}

static void expect(const char *text, size_t shared, uint32_t (*want)(uint32_t i))
{
    struct dev *d[PTX_DEVICES];
    size_t devices = ptx_devices(d);
    uint32_t out[THREADS], in[WORDS];
    for (uint32_t i = 0; i < WORDS; i++)
        in[i] = input(i);
    for (size_t k = 0; k < devices; k++) {
        memset(out, 0xee, sizeof out);
        cr_expect(ptx_run(d[k], text, (struct ptx_shape){ 1, THREADS, shared }, out, THREADS, in, WORDS), "%s: %s",
                  dev_about(d[k])->name, dev_error(d[k]));
        for (uint32_t i = 0; i < THREADS; i++)
            cr_assert_eq(out[i], want(i), "%s: thread %u gives 0x%x, not 0x%x", dev_about(d[k])->name, i, out[i],
                         want(i));
        dev_close(d[k]);
    }
}

// --- spaces and addresses ---

static uint32_t mirrored(uint32_t i)
{
    return 1000 + 63 - i;
}

#define MIRROR(base)                                                                                                   \
    "mad.lo.u32 %r5, %r1, 4, " base ";\nadd.u32 %r6, %r1, 1000;\nst.shared.u32 [%r5], %r6;\nbar.sync 0;\n"             \
    "sub.u32 %r7, 63, %r1;\nmad.lo.u32 %r7, %r7, 4, " base ";\nld.shared.u32 %r3, [%r7];\n"

Test(exec_memory, shared_variables_stand_in_the_entry_or_outside_it)
{
    expect(MODULE(".shared .align 4 .b8 s[256];\nmov.u32 %r4, s;\n" MIRROR("%r4")), 0, mirrored);
    expect(PTX_HEAD ".shared .align 16 .b8 other[64];\n.shared .align 4 .b32 s[64];\n" ENTRY
                    "mov.u32 %r4, other;\nst.shared.u32 [other+60], %r4;\nmov.u32 %r4, s;\n" MIRROR("%r4") LEAVE,
           0, mirrored);
}

Test(exec_memory, dynamic_shared_memory_begins_behind_the_static_one)
{
    expect(PTX_HEAD
           ".extern .shared .align 16 .b8 dynamic[];\n" ENTRY
           ".shared .align 4 .b8 s[20];\nmov.u32 %r8, s;\nst.shared.u32 [%r8+16], %r8;\nmov.u32 %r4, dynamic;\n" MIRROR(
               "%r4") LEAVE,
           256, mirrored);
}

static uint32_t thread_times_three(uint32_t i)
{
    return 3 * i;
}

Test(exec_memory, generic_addresses_reach_shared_local_and_global_memory)
{
    expect(MODULE(".shared .align 4 .b32 s[64];\nmov.u64 %l3, s;\ncvta.shared.u64 %l4, %l3;\n"
                  "mad.wide.u32 %l4, %r1, 4, %l4;\nmul.lo.u32 %r5, %r1, 3;\nst.u32 [%l4], %r5;\nld.u32 %r6, [%l4];\n"
                  "cvta.to.shared.u64 %l5, %l4;\nld.shared.u32 %r3, [%l5];\nadd.u32 %r3, %r3, %r6;\n"
                  "sub.u32 %r3, %r3, %r5;\n"),
           0, thread_times_three);
    expect(MODULE("mul.lo.u32 %r3, %r1, 3;\nst.u32 [%l2], %r3;\nmov.u32 %r3, 0;\nld.u32 %r3, [%l2];\n"), 0,
           thread_times_three);
}

Test(exec_memory, every_thread_has_its_own_local_depot)
{
    expect(PTX_HEAD
           ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n.local .align 16 .b8 __local_depot0[32];\n"
           ".reg .b64 %SP, %SPL;\n.reg .b32 %r<24>;\n.reg .b64 %l<12>;\nmov.u64 %SPL, __local_depot0;\n"
           "cvta.local.u64 %SP, %SPL;\nld.param.u64 %l0, [out];\nmov.u32 %r1, %tid.x;\nmad.wide.u32 %l2, %r1, 4, %l0;\n"
           "mul.lo.u32 %r4, %r1, 3;\nadd.u64 %l3, %SP, 8;\nst.u32 [%l3+4], %r4;\nadd.u64 %l4, %SPL, 8;\nbar.sync 0;\n"
           "ld.local.u32 %r3, [%l4+4];\n" LEAVE,
           0, thread_times_three);
}

Test(exec_memory, a_thread_takes_from_its_stack_and_gives_back)
{
    // 4 to 256 bytes; 40 that are given back; 8 in their place.
    expect(MODULE(".local .align 8 .b8 own[24];\nst.local.u32 [own+20], 0;\nadd.u32 %r4, %r1, 1;\n"
                  "mul.wide.u32 %l3, %r4, 4;\nalloca.u64 %l4, %l3;\nadd.u64 %l8, %l4, %l3;\nstacksave.u64 %l5;\n"
                  "alloca.u64 %l6, 40, 32;\nst.local.u32 [%l6+36], %r1;\nstackrestore.u64 %l5;\n"
                  "alloca.u64 %l7, 8, 32;\nmul.lo.u32 %r5, %r1, 3;\nst.local.u32 [%l4], %r5;\n"
                  "st.local.u32 [%l8+-4], %r5;\nst.local.u32 [%l7], %r1;\nld.local.u32 %r3, [%l8+-4];\n"
                  "sub.u64 %l9, %l7, %l6;\nand.b64 %l10, %l7, 31;\nor.b64 %l9, %l9, %l10;\ncvt.u32.u64 %r6, %l9;\n"
                  "ld.local.u32 %r7, [own+20];\nadd.u32 %r3, %r3, %r6;\nadd.u32 %r3, %r3, %r7;\n"),
           0, thread_times_three);
    // A function's part ends with its call: three times 512 bytes are more than there are.
    expect(PTX_HEAD ".func (.param .u32 b) f(.param .u32 a)\n{\n.reg .b32 %r<4>;\n.reg .b64 %l<4>;\n"
                    "ld.param.u32 %r1, [a];\nalloca.u64 %l1, 512;\nst.local.u32 [%l1+508], %r1;\n"
                    "ld.local.u32 %r2, [%l1+508];\nst.param.u32 [b], %r2;\nret;\n}\n" ENTRY
                    "mov.u32 %r4, 0;\nAGAIN:\n{\n.param .u32 a;\n.param .u32 b;\nst.param.u32 [a], %r1;\n"
                    "call (b), f, (a);\nld.param.u32 %r5, [b];\n}\nadd.u32 %r3, %r3, %r5;\nadd.u32 %r4, %r4, 1;\n"
                    "setp.lt.u32 %p1, %r4, 3;\n@%p1 bra AGAIN;\n" LEAVE,
           0, thread_times_three);
}

static uint32_t from_tables(uint32_t i)
{
    static const uint32_t table[4] = { 5, 0xffffffff, 0x3f800000, 0 };
    return table[i % 4] + (i % 4) * 7 + (i % 4 == 0 ? 104 : i % 4 == 1 ? 105 : 0);
}

Test(exec_memory, constants_and_globals_have_their_initial_values)
{
    expect(PTX_HEAD
           ".const .align 4 .b32 table[4] = {5, -1, 0x3F800000};\n.global .align 1 .b8 text[4] = {104, 105};\n"
           ".global .align 8 .u64 steps[4] = {0, 7, 14, 21};\n" ENTRY
           "and.b32 %r4, %r1, 3;\nmov.u64 %l3, table;\nmad.wide.u32 %l3, %r4, 4, %l3;\nld.const.u32 %r5, [%l3];\n"
           "mov.u64 %l4, steps;\nmad.wide.u32 %l4, %r4, 8, %l4;\nld.global.u64 %l5, [%l4];\ncvt.u32.u64 %r6, %l5;\n"
           "mov.u64 %l6, text;\ncvt.u64.u32 %l7, %r4;\nadd.u64 %l6, %l6, %l7;\nld.global.u8 %r7, [%l6];\n"
           "add.u32 %r3, %r5, %r6;\nadd.u32 %r3, %r3, %r7;\n" LEAVE,
           0, from_tables);
}

static uint32_t last_word(uint32_t i)
{
    (void)i;
    return input(3) ^ input(0);
}

Test(exec_memory, an_address_may_be_a_variable_or_a_register_with_an_offset)
{
    expect(MODULE(".shared .align 4 .b32 s[4];\nld.global.u32 %r4, [%l1+12];\nst.shared.u32 [s+12], %r4;\nbar.sync 0;\n"
                  "ld.shared.u32 %r3, [s+12];\nadd.u64 %l3, %l1, 400;\nld.global.u32 %r5, [%l3+-400];\n"
                  "xor.b32 %r3, %r3, %r5;\n"),
           0, last_word);
}

// --- widths ---

static uint32_t vectors(uint32_t i)
{
    uint32_t at = i % 16 * 4;
    return input(at) + 2 * input(at + 1) + 3 * input(at + 3) + 5 * input(at + 2) + 7 * input(at + 3);
}

Test(exec_memory, vectors_load_and_store_and_skip_a_sink)
{
    expect(MODULE("and.b32 %r4, %r1, 15;\nmad.wide.u32 %l3, %r4, 16, %l1;\n"
                  "ld.global.v4.u32 {%r5, %r6, _, %r7}, [%l3];\nld.global.v2.u32 {%r8, %r9}, [%l3+8];\n"
                  "mad.lo.u32 %r3, %r6, 2, %r5;\nmad.lo.u32 %r3, %r7, 3, %r3;\nmad.lo.u32 %r3, %r8, 5, %r3;\n"
                  "mad.lo.u32 %r3, %r9, 7, %r3;\n"),
           0, vectors);
    expect(MODULE(".shared .align 16 .b8 s[1024];\nand.b32 %r4, %r1, 15;\nmad.wide.u32 %l3, %r4, 16, %l1;\n"
                  "ld.global.v2.u64 {%l4, %l5}, [%l3];\nmov.u32 %r10, s;\nmad.lo.u32 %r10, %r1, 16, %r10;\n"
                  "st.shared.v2.u64 [%r10], {%l4, %l5};\nld.shared.v4.u32 {%r5, %r6, %r8, %r7}, [%r10];\n"
                  "st.shared.v4.u32 [%r10], {%r7, %r7, %r7, %r7};\nld.shared.v2.u32 {_, %r9}, [%r10+8];\n"
                  "mad.lo.u32 %r3, %r6, 2, %r5;\nmad.lo.u32 %r3, %r7, 3, %r3;\nmad.lo.u32 %r3, %r8, 5, %r3;\n"
                  "mad.lo.u32 %r3, %r9, 7, %r3;\n"),
           0, vectors);
}

static uint32_t scattered(uint32_t i)
{
    const uint32_t at = 47 * i % 64 * 4;
    return input(at) + 2 * input(at + 1) + 3 * input(at + 2) + 5 * input(at + 3);
}

// Thread i loads piece 5 i, stores it as piece 11 i, and loads piece i, which thread 35 i stored.
Test(exec_memory, vectors_of_lanes_in_any_order_are_not_mixed_up)
{
    expect(MODULE(".shared .align 16 .b8 s[1024];\nmul.lo.u32 %r4, %r1, 5;\nand.b32 %r4, %r4, 63;\n"
                  "mad.wide.u32 %l3, %r4, 16, %l1;\nld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%l3];\nmov.u32 %r10, s;\n"
                  "mul.lo.u32 %r9, %r1, 11;\nand.b32 %r9, %r9, 63;\nmad.lo.u32 %r9, %r9, 16, %r10;\n"
                  "st.shared.v4.u32 [%r9], {%r5, %r6, %r7, %r8};\nbar.sync 0;\nmad.lo.u32 %r11, %r1, 16, %r10;\n"
                  "ld.shared.v4.u32 {%r12, %r13, %r14, %r15}, [%r11];\nmad.lo.u32 %r3, %r13, 2, %r12;\n"
                  "mad.lo.u32 %r3, %r14, 3, %r3;\nmad.lo.u32 %r3, %r15, 5, %r3;\n"),
           0, scattered);
}

static uint32_t apart(uint32_t i)
{
    uint32_t sum = 0;
    for (uint32_t t = 0; t < 3; t++) {
        const uint32_t at = (i * (1 + 2 * (i / 32)) + t * (i % 4)) & 63;
        sum += input(at) + 3 * input(at + 1) + 5 * input(at + 1 + i % 8);
    }
    return sum;
}

// Two warps whose lanes lie differently far apart take turns, and in each turn they lie otherwise than before: a second
// load has its lanes where the first has, next to it, and a third one somewhere else.
Test(exec_memory, lanes_that_lie_as_far_apart_as_before_are_told_from_others)
{
    expect(MODULE("shr.u32 %r4, %r1, 5;\nmad.lo.u32 %r4, %r4, 2, 1;\nmul.lo.u32 %r4, %r4, %r1;\nand.b32 %r5, %r1, 3;\n"
                  "and.b32 %r6, %r1, 7;\nmul.wide.u32 %l5, %r6, 4;\nmov.u64 %l6, 4;\nmov.u32 %r7, 0;\n"
                  "again:\nand.b32 %r8, %r4, 63;\nmad.wide.u32 %l3, %r8, 4, %l1;\nld.global.u32 %r9, [%l3];\n"
                  "add.s64 %l4, %l3, %l6;\nld.global.u32 %r10, [%l4];\nadd.s64 %l4, %l4, %l5;\n"
                  "ld.global.u32 %r11, [%l4];\nadd.u32 %r3, %r3, %r9;\nmad.lo.u32 %r3, %r10, 3, %r3;\n"
                  "mad.lo.u32 %r3, %r11, 5, %r3;\nadd.u32 %r4, %r4, %r5;\nbar.sync 0;\nadd.u32 %r7, %r7, 1;\n"
                  "setp.lt.u32 %p1, %r7, 3;\n@%p1 bra again;\n"),
           0, apart);
}

static uint32_t narrow(uint32_t i)
{
    uint32_t byte = input(i) & 255, half = input(i) & 65535;
    return byte + 3 * (uint32_t)(int8_t)byte + 5 * half + 7 * (uint32_t)(int16_t)half;
}

#define NARROW(reg, add)                                                                                               \
    "mad.wide.u32 %l3, %r1, 4, %l1;\nld.global.u8 " reg "4, [%l3];\nld.global.s8 " reg "5, [%l3];\n"                   \
    "ld.global.u16 " reg "6, [%l3];\nld.global.s16 " reg "7, [%l3];\n" add

Test(exec_memory, narrow_loads_extend_into_wider_registers)
{
    expect(MODULE(NARROW("%r", "mad.lo.u32 %r3, %r5, 3, %r4;\nmad.lo.u32 %r3, %r6, 5, %r3;\n"
                               "mad.lo.u32 %r3, %r7, 7, %r3;\n")),
           0, narrow);
    expect(MODULE(NARROW("%l", "mad.lo.u64 %l8, %l5, 3, %l4;\nmad.lo.u64 %l8, %l6, 5, %l8;\n"
                               "mad.lo.u64 %l8, %l7, 7, %l8;\ncvt.u32.u64 %r3, %l8;\n")),
           0, narrow);
}

static uint32_t rebuilt(uint32_t i)
{
    return input(i);
}

Test(exec_memory, narrow_stores_touch_only_their_bytes)
{
    expect(MODULE(".shared .align 4 .b32 s[64];\nmad.wide.u32 %l3, %r1, 4, %l1;\nld.global.u32 %r4, [%l3];\n"
                  "mov.u32 %r5, s;\nmad.lo.u32 %r5, %r1, 4, %r5;\nst.shared.u32 [%r5], -1;\nst.shared.u8 [%r5], %r4;\n"
                  "shr.u32 %r6, %r4, 16;\ncvt.u16.u32 %h1, %r6;\nst.shared.u16 [%r5+2], %h1;\nshr.u32 %r6, %r4, 8;\n"
                  "cvt.u64.u32 %l4, %r6;\nst.shared.u8 [%r5+1], %l4;\nld.shared.u32 %r3, [%r5];\n"),
           0, rebuilt);
}

// --- faults: the simulated GPU alone ---

#define FAULT(body) PTX_HEAD ENTRY ".loc 1 77 3\n" body LEAVE FILES

#define BREAKS(body, ...)                                                                                              \
    found_fails(FAULT(body), (struct ptx_shape){ 2, THREADS, 0 }, 0, SUCH(__VA_ARGS__, .place = "kernel.cu:77"))

Test(exec_memory, an_access_outside_an_allocation_names_the_byte_and_the_allocation)
{
    BREAKS("mad.wide.u32 %l3, %r1, 64, %l1;\nld.global.u32 %r3, [%l3];\n", SIMT_OUT_OF_BOUNDS, HERE(77, 16, READS),
           .block = THE(0), OF("in", 1024), .size = 1024, .bytes = 4);
    BREAKS("mad.wide.u32 %l3, %r1, 4, %l0;\nmov.u32 %r5, %ctaid.x;\nmad.wide.u32 %l3, %r5, 512, %l3;\n"
           "st.global.u32 [%l3], %r1;\n",
           SIMT_OUT_OF_BOUNDS, HERE(77, 0, WRITES), .block = THE(1), OF("out", 512), .size = 512, .bytes = 4);
    BREAKS("ld.global.u32 %r3, [%l1+-4];\n", SIMT_OUT_OF_BOUNDS, .object = "in", .at = BEFORE(4));
    BREAKS("ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%l1+1024];\n", SIMT_OUT_OF_BOUNDS, OF("in", 1024), .bytes = 16);
    BREAKS("mov.u64 %l3, 0;\nld.global.u32 %r3, [%l3];\n", SIMT_OUT_OF_BOUNDS, HERE(77, 0, READS), .object = "");
    BREAKS("mov.u64 %l3, 0;\nst.u32 [%l3+8], %r3;\n", SIMT_OUT_OF_BOUNDS, HERE(77, 0, WRITES), .object = "");
    BREAKS("mov.u64 %l3, -8;\nld.global.u64 %l4, [%l3];\n", SIMT_OUT_OF_BOUNDS, .object = "");
}

Test(exec_memory, an_access_outside_shared_or_local_memory_is_found)
{
    BREAKS(".shared .align 4 .b32 s[60];\nmov.u32 %r4, s;\nmad.lo.u32 %r4, %r1, 4, %r4;\nst.shared.u32 [%r4], %r1;\n",
           SIMT_OUT_OF_BOUNDS, HERE(77, 60, WRITES), .space = SIMT_SHARED, OF("s", 240), .size = 240, .bytes = 4);
    BREAKS(".shared .align 4 .b32 s[60];\nld.shared.u32 %r3, [s+-4];\n", SIMT_OUT_OF_BOUNDS, HERE(77, 0, READS),
           .space = SIMT_SHARED);
    BREAKS(".shared .align 4 .b32 s[4];\nmov.u64 %l3, s;\ncvta.shared.u64 %l3, %l3;\nld.u32 %r3, [%l3+16];\n",
           SIMT_OUT_OF_BOUNDS, .space = SIMT_SHARED, OF("s", 16));
    BREAKS("alloca.u64 %l3, 1024;\nalloca.u64 %l4, 16;\nst.local.u32 [%l4], %r1;\n", SIMT_OUT_OF_BOUNDS,
           .space = SIMT_LOCAL);
    BREAKS(".local .align 4 .b32 a[4];\nmov.u64 %l3, a;\nst.local.u32 [%l3+16], %r1;\n", SIMT_OUT_OF_BOUNDS,
           .space = SIMT_LOCAL, .at = THE(16), .size = 16);
}

Test(exec_memory, a_misaligned_access_is_found_in_every_space)
{
    BREAKS("ld.global.u32 %r3, [%l1+2];\n", SIMT_MISALIGNED, OF("in", 2), .bytes = 4);
    BREAKS("ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%l1+8];\n", SIMT_MISALIGNED, .bytes = 16);
    BREAKS("cvt.u64.u32 %l3, %r1;\nadd.u64 %l3, %l3, %l1;\nld.global.u16 %h1, [%l3];\n", SIMT_MISALIGNED,
           HERE(77, 1, READS), .bytes = 2);
    BREAKS(".shared .align 8 .b8 s[64];\nst.shared.u64 [s+4], %l1;\n", SIMT_MISALIGNED, .space = SIMT_SHARED,
           .bytes = 8);
    BREAKS(".local .align 8 .b8 a[16];\nst.local.u32 [a+1], %r1;\n", SIMT_MISALIGNED, .space = SIMT_LOCAL, .bytes = 4);
    BREAKS("ld.global.u32 %r3, [%l1+1048575];\n", SIMT_MISALIGNED, .bytes = 4);  // out of bounds, too
}

Test(exec_memory, memory_that_was_freed_is_not_there_any_more)
{
    struct dev *d = ptx_simulator();
    const char *text = FAULT("ld.global.u32 %r3, [%l1];\n");
    dev_ptr out = 0, in = 0;
    cr_assert(dev_alloc(d, "C", 4096, &out) && dev_alloc(d, "A", 4096, &in), "%s", dev_error(d));
    struct dev_module *m = dev_load_text(d, "test.ptx", text, strlen(text));
    struct dev_kernel *k = m ? dev_kernel(d, m, "k") : NULL;
    cr_assert_not_null(k, "%s", dev_error(d));
    struct dev_arg args[] = { DEV_ARG(out), DEV_ARG(in) };
    struct dev_launch launch = { .grid = { 1 }, .block = { 32 }, .args = args, .n_args = 2 };
    cr_expect(dev_launch(d, k, &launch) && dev_sync(d), "%s", dev_error(d));
    cr_assert(dev_free(d, in), "%s", dev_error(d));
    cr_expect_not(dev_launch(d, k, &launch) && dev_sync(d), "a freed buffer was read");
    found_failed(d, SUCH(SIMT_OUT_OF_BOUNDS, OF("A", 0), .freed = true));
    dev_close(d);
}

// --- host memory ---

// 512 KB of local memory for each of 1024 threads are more than a small host has; no host has them 256 times.
Test(exec_memory, a_block_that_the_host_cannot_hold_is_refused)
{
    static const char text[] = PTX_HEAD ".visible .entry k()\n{\n.local .b8 much[524288];\nret;\n}\n";
    char error[DEV_ERROR_MAX] = "";
    struct simt *s = simt_open();
    cr_assert_not_null(s);
    s->memory_limit = 64 << 20;
    s->jobs = SIMT_JOBS_MAX;
    struct simt_module *m = simt_load(s, "test.ptx", text, strlen(text), error);
    cr_assert_not_null(m, "%s", error);
    struct simt_kernel *k = simt_kernel(m, "k");
    const struct dev_launch large = { .grid = { 300 }, .block = { 1024 } },
                            small = { .grid = { 300 }, .block = { 32 } };
    cr_expect_not(simt_launch(s, k, &large, error));
    cr_expect_not_null(strstr(error, "local memory, which is more than there is"), "%s", error);
    cr_expect(simt_launch(s, k, &small, error), "%s", error);
    simt_close(s);
}

// A kernel and the program that lends its memory see what the other has written, and the checks find nothing in it.
Test(exec_memory, lent_memory_is_the_same_for_both)
{
    static const char text[] = PTX_HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %d;\n.reg .b32 %r<3>;\n"
                                        "ld.param.u64 %d, [p];\nld.global.u32 %r1, [%d+4];\nadd.u32 %r2, %r1, 1;\n"
                                        "st.global.u32 [%d], %r2;\nret;\n}\n";
    char error[DEV_ERROR_MAX] = "";
    uint32_t lent[16] = { [15] = 15 };
    uint64_t p;
    struct simt *s = simt_open();
    struct simt_module *m = simt_load(s, "test.ptx", text, strlen(text), error);
    cr_assert(m, "%s", error);
    simt_set_checks(s, true);
    cr_assert(simt_alloc(s, "lent", sizeof lent, &p, error) && simt_clear(s, p, sizeof lent, error), "%s", error);
    cr_expect_not(simt_lend(s, p + 4, lent), "nothing begins there");
    cr_assert(simt_lend(s, p, lent));
    cr_expect_eq(lent[15], 15, "what it held does not matter");
    struct dev_arg args[] = { DEV_ARG(p) };
    const struct dev_launch launch = { .grid = { 1 }, .block = { 1 }, .args = args, .n_args = 1 };
    lent[1] = 41;
    cr_assert(simt_launch(s, simt_kernel(m, "k"), &launch, error), "%s", error);
    cr_expect_eq(lent[0], 42);
    cr_expect_eq(simt_findings(s)->n, 0);
    cr_expect(simt_free(s, p, error), "%s", error);
    simt_close(s);
}

Test(exec_memory, a_launch_may_begin_with_a_later_block)
{
    static const char text[] = PTX_HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %d<3>;\n.reg .b32 %r;\n"
                                        "ld.param.u64 %d1, [p];\nmov.u32 %r, %ctaid.x;\nmad.wide.u32 %d2, %r, 4, %d1;\n"
                                        "st.global.u32 [%d2], %r;\nret;\n}\n";
    enum { BLOCKS = 9, FIRST = 6 };
    struct dev *d = ptx_simulator();
    uint32_t out[BLOCKS] = { 0 };
    dev_ptr p = 0;
    struct dev_module *m = dev_load_text(d, "test.ptx", text, strlen(text));
    struct dev_arg args[] = { DEV_ARG(p) };
    const struct dev_launch launch = { .grid = { BLOCKS }, .block = { 1 }, .args = args, .n_args = 1, .first = FIRST };
    cr_assert(m && dev_alloc(d, "p", sizeof out, &p) && dev_upload(d, p, out, sizeof out), "%s", dev_error(d));
    cr_assert(dev_launch(d, dev_kernel(d, m, "k"), &launch) && dev_sync(d), "%s", dev_error(d));
    cr_assert(dev_download(d, out, p, sizeof out));
    for (uint32_t i = 0; i < BLOCKS; i++)
        cr_expect_eq(out[i], i < FIRST ? 0 : i);
    dev_close(d);
}

Test(exec_memory, more_static_shared_memory_than_ptxas_allows_is_refused)
{
    struct dev *d = ptx_simulator();
    uint32_t out[THREADS] = { 0 };
    cr_expect_not(ptx_run(d, FAULT(".shared .align 4 .b8 s[49156];\nst.shared.u32 [s], %r3;\n"),
                          (struct ptx_shape){ 2, THREADS, 0 }, out, THREADS, out, 1));
    cr_expect(strstr(dev_error(d), "49156 bytes of __shared__ arrays, ptxas allows 49152: more is to be had only as "
                                   "extern __shared__"),
              "%s", dev_error(d));
    dev_close(d);
}
