// common/irptx: LLVM IR to PTX. What each part makes of a few lines of IR; tests/wasm/irptx.mjs compiles whole kernels.
#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "irptx/irptx.h"

TestSuite(irptx);

static char error[DEV_ERROR_MAX];

static char *translated(const char *before, const char *body)
{
    char ir[8192];
    snprintf(ir, sizeof ir,
             "target triple = \"nvptx64-nvidia-cuda\"\n%s\n"
             "define dso_local ptx_kernel void @k(ptr noundef %%p, ptr noundef %%q, i32 noundef %%n, float %%x) #0 "
             "!dbg !3 {\n"
             "entry:\n%s\n}\n"
             "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\ndeclare i32 @llvm.smin.i32(i32, i32)\n"
             "declare i32 @llvm.frobnicate.i32(i32)\ndeclare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n"
             "attributes #0 = { nounwind \"nvvm.maxntid\"=\"256\" \"target-cpu\"=\"sm_80\" "
             "\"target-features\"=\"+ptx71,+sm_80\" }\n"
             "!1 = !DIFile(filename: \"kernel.cu\", directory: \"\")\n!2 = !DIFile(filename: \"common/edges.cuh\", "
             "directory: \"\")\n"
             "!3 = distinct !DISubprogram(name: \"k\", scope: !1, file: !1, line: 10)\n"
             "!4 = distinct !DISubprogram(name: \"load\", linkageName: \"_Z4load\", scope: !2, file: !2, line: 20)\n"
             "!5 = !DILocation(line: 12, column: 3, scope: !3)\n"
             "!6 = !DILocation(line: 22, column: 7, scope: !4, inlinedAt: !5)\n",
             before, body);
    const struct irptx_options options = { 0 };
    return irptx_translate(ir, &options, error);
}

static void expect_with(const char *before, const char *body, const char *first, ...)
{
    char *ptx = translated(before, body);
    cr_assert(ptx, "%s", error);
    va_list args;
    va_start(args, first);
    const char *at = ptx;
    for (const char *piece = first; piece; piece = va_arg(args, const char *)) {
        const char *found = strstr(at, piece);
        cr_assert(found, "no '%s' at its place in:\n%s", piece, ptx);
        at = found + strlen(piece);
    }
    va_end(args);
    free(ptx);
}
#define expect(...) expect_with("", __VA_ARGS__, NULL)

static void expect_not(const char *body, const char *piece)
{
    char *ptx = translated("", body);
    cr_assert(ptx, "%s", error);
    cr_assert(!strstr(ptx, piece), "'%s' in:\n%s", piece, ptx);
    free(ptx);
}

static void refuse(const char *before, const char *body, const char *said)
{
    char *ptx = translated(before, body);
    cr_assert(!ptx, "%s", ptx);
    cr_assert_str_eq(error, said);
}

Test(irptx, writes_the_target_the_parameters_and_the_limits)
{
    expect("  ret void", ".version 7.1\n.target sm_80\n.address_size 64\n", ".visible .entry k(\n",
           ".param .u64 k_param_0,\n", ".param .u32 k_param_2,\n", ".param .f32 k_param_3\n", ".maxntid 256\n",
           "\tret;\n");
}

Test(irptx, folds_constant_offsets_into_the_access)
{
    expect("  %i = add nsw i32 %n, 3\n  %w = sext i32 %i to i64\n  %a = getelementptr float, ptr %p, i64 %w\n"
           "  %b = getelementptr i8, ptr %a, i64 4\n  %v = load float, ptr %b, align 4\n  store float %v, ptr %q, "
           "align 4\n  ret void",
           "mul.wide.s32", "ld.global.b32", "+16];", "st.global.b32");
    expect("  %b = getelementptr i8, ptr %p, i64 -4\n  %v = load float, ptr %b, align 4\n  store float %v, ptr %q, "
           "align 4\n"
           "  ret void",
           "ld.global.b32", "+-4];", "st.global.b32");
    // A sum that may wrap is no constant behind the base.
    expect("  %i = add i32 %n, 3\n  %w = sext i32 %i to i64\n  %a = getelementptr float, ptr %p, i64 %w\n"
           "  store float %x, ptr %a, align 4\n  ret void",
           "add.s32", ", 3;", "st.global.b32 \t[%rd4]");
}

Test(irptx, merges_neighbours_and_keeps_what_may_overlap_apart)
{
    expect(
        "  %b = getelementptr i8, ptr %p, i64 4\n  %u = load i32, ptr %p, align 8\n  %v = load i32, ptr %b, align 4\n"
        "  %s = add i32 %u, %v\n  store i32 %s, ptr %q, align 4\n  ret void",
        "ld.global.v2.b32 \t{%r");
    expect_not(
        "  %b = getelementptr i8, ptr %p, i64 4\n  %u = load i32, ptr %p, align 8\n  store i32 %n, ptr %q, align 4\n"
        "  %v = load i32, ptr %b, align 4\n  %s = add i32 %u, %v\n  store i32 %s, ptr %q, align 4\n  ret void",
        ".v2");
    expect_not(
        "  %b = getelementptr i8, ptr %p, i64 4\n  %u = load i32, ptr %p, align 4\n  %v = load i32, ptr %b, align 4\n"
        "  %s = add i32 %u, %v\n  store i32 %s, ptr %q, align 4\n  ret void",
        ".v2");
    expect_not(
        "  %b = getelementptr i8, ptr %p, i64 4\n  store i32 1, ptr %p, align 8\n"
        "  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n  store i32 2, ptr %b, align 4\n  ret void",
        ".v2");
}

Test(irptx, merges_halves_into_words)
{
    expect(
        "  %b = getelementptr i8, ptr %p, i64 2\n  %u = load i16, ptr %p, align 4\n  %v = load i16, ptr %b, align 2\n"
        "  %s = add i16 %u, %v\n  store i16 %s, ptr %q, align 2\n  ret void",
        "ld.global.b32 \t%r", "mov.b32 \t{%rs", "add.s16");
    expect("  %b = getelementptr i8, ptr %p, i64 2\n  %u = load i16, ptr %q, align 2\n  %v = add i16 %u, 1\n"
           "  store i16 %u, ptr %p, align 4\n  store i16 %v, ptr %b, align 2\n  ret void",
           "ld.global.b16", "mov.b32 \t%r", ", {%rs", "st.global.b32");
}

Test(irptx, keeps_two_halves_in_a_word_around_a_loop)
{
    // The word of a load goes to a store: nobody takes it apart on the way.
    const char *const around =
        "  %x1 = load i32, ptr %p, align 4\n  %u = bitcast i32 %x1 to <2 x half>\n  br label %loop\nloop:\n"
        "  %a = phi <2 x half> [ %u, %entry ], [ %b, %loop ]\n  %i = phi i32 [ 0, %entry ], [ %j, %loop ]\n"
        "  %w = bitcast <2 x half> %a to i32\n  store i32 %w, ptr %p, align 4\n"
        "  %v = load i32, ptr %q, align 4\n  %b = bitcast i32 %v to <2 x half>\n  %j = add i32 %i, 1\n"
        "  %c = icmp eq i32 %j, %n\n  br i1 %c, label %done, label %loop\ndone:\n  ret void";
    expect(around, "$L_k_1:", "st.global.b32", "ld.global.b32", "bra");
    expect_not(around, "{%rs");
    // Constants of both halves are one number: 1 and 2 in half precision.
    expect("  br label %loop\nloop:\n  %a = phi <2 x half> [ <half 0xH3C00, half 0xH4000>, %entry ], [ %b, %loop ]\n"
           "  %i = phi i32 [ 0, %entry ], [ %j, %loop ]\n  %w = bitcast <2 x half> %a to i32\n"
           "  store i32 %w, ptr %p, align 4\n  %v = load i32, ptr %q, align 4\n"
           "  %b = bitcast i32 %v to <2 x half>\n  %j = add i32 %i, 1\n  %c = icmp eq i32 %j, %n\n"
           "  br i1 %c, label %done, label %loop\ndone:\n  ret void",
           "mov.b32 \t%r", ", 1073757184;", "$L_k_1:", "st.global.b32");
}

Test(irptx, moves_a_load_behind_the_branch_that_needs_it)
{
    const char *const load = "  %v = load i32, ptr %q, align 4\n";
    const char *const rest =
        "  %c = icmp eq i32 %n, 0\n  br i1 %c, label %yes, label %no\nyes:\n  store i32 %v, ptr %p, align 4\n"
        "  br label %no\nno:\n  ret void";
    char body[512];
    snprintf(body, sizeof body, "%s%s", load, rest);
    expect(body, "setp.eq", "bra", "ld.global.b32", "st.global.b32");
    snprintf(body, sizeof body, "%s  store i32 1, ptr %%p, align 4\n%s", load, rest);
    expect(body, "ld.global.b32", "st.global.b32", "bra", "st.global.b32");
}

Test(irptx, contracts_a_product_and_a_sum_only_where_it_may)
{
    expect("  %y = load float, ptr %q, align 4\n  %m = fmul contract float %x, %y\n  %s = fadd contract float %m, %y\n"
           "  store float %s, ptr %p, align 4\n  ret void",
           "fma.rn.f32");
    expect("  %y = load float, ptr %q, align 4\n  %m = fmul float %x, %y\n  %s = fadd float %m, %y\n"
           "  store float %s, ptr %p, align 4\n  ret void",
           "mul.rn.f32", "add.rn.f32");
}

Test(irptx, knows_the_space_of_a_pointer_through_phis_and_casts)
{
    const char *const shared = "@tile = internal addrspace(3) global [64 x float] poison, align 16";
    expect_with(shared,
                "  br label %loop\nloop:\n  %a = phi ptr [ addrspacecast (ptr addrspace(3) @tile to ptr), %entry ], [ "
                "%b, %loop ]\n"
                "  %i = phi i32 [ 0, %entry ], [ %j, %loop ]\n  store float %x, ptr %a, align 4\n"
                "  %b = getelementptr i8, ptr %a, i64 4\n  %j = add i32 %i, 1\n  %c = icmp eq i32 %j, %n\n"
                "  br i1 %c, label %done, label %loop\ndone:\n  ret void",
                ".shared .align 16 .b8 tile[256];", "$L_k_1:", "st.shared.b32", "bra \t$L_k_1;", "ret;", NULL);
    expect_with(
        shared,
        "  %c = icmp eq i32 %n, 0\n  %a = select i1 %c, ptr addrspacecast (ptr addrspace(3) @tile to ptr), ptr %p\n"
        "  store float %x, ptr %a, align 4\n  ret void",
        "cvta.shared.u64", "cvta.global.u64", "st.b32", NULL);
}

Test(irptx, computes_addresses_of_shared_memory_in_32_bits)
{
    const char *const shared = "@tile = internal addrspace(3) global [64 x float] poison, align 16";
    // A sum that may wrap loses a constant all the same, for what is above 32 bits is lost anyway.
    expect_with(shared,
                "  %i = add i32 %n, 3\n  %j = shl i32 %i, 2\n  %w = zext i32 %j to i64\n"
                "  %a = getelementptr float, ptr addrspacecast (ptr addrspace(3) @tile to ptr), i64 %w\n"
                "  store float %x, ptr %a, align 4\n  ret void",
                "shl.b32", "mov.u32", "tile;", "add.s32", "st.shared.b32 \t[%r", "+48]", NULL);
    expect_with(shared,
                "  %w = sext i32 %n to i64\n  %d = sub i64 6, %w\n"
                "  %a = getelementptr float, ptr addrspacecast (ptr addrspace(3) @tile to ptr), i64 %d\n"
                "  %s = addrspacecast ptr %a to ptr addrspace(3)\n  %l = ptrtoint ptr addrspace(3) %s to i64\n"
                "  store i64 %l, ptr %p, align 8\n  ret void",
                "neg.s32", "add.s32", ", 24;", "cvt.u64.u32", "st.global.b64", NULL);
}

Test(irptx, jumps_back_from_the_end_of_a_loop)
{
    expect("  br label %loop\nloop:\n  %i = phi i32 [ 0, %entry ], [ %j, %loop ]\n  store i32 %i, ptr %p, align 4\n"
           "  %j = sub i32 %n, %i\n  %c = icmp eq i32 %j, 7\n  br i1 %c, label %done, label %loop\ndone:\n  ret void",
           "mov.b32 \t%r", "$L_k_1:", "sub.s32", "@!%p", "bra \t$L_k_1;", "ret;");
    // Where the value of before is read behind the loop, the copy has a block of its own.
    expect("  br label %loop\nloop:\n  %i = phi i32 [ 0, %entry ], [ %j, %loop ]\n  %j = sub i32 %n, %i\n"
           "  %c = icmp eq i32 %j, 7\n  br i1 %c, label %done, label %loop\ndone:\n  store i32 %i, ptr %p, align 4\n"
           "  ret void",
           "$L_k_1:", "sub.s32", "bra \t$L_k_2;", "mov.b32", "bra.uni \t$L_k_1;", "$L_k_2:", "st.global.b32");
}

Test(irptx, writes_the_lines_of_inlined_calls_as_nvcc_does)
{
    expect("  %y = load float, ptr %q, align 4, !dbg !6\n  store float %y, ptr %p, align 4, !dbg !5\n  ret void",
           "\t.loc\t1 10 0\n",
           "\t.loc\t1 12 3\n\t.loc\t2 22 7, function_name $L__info_string0, inlined_at 1 12 3\n\tld.global.b32",
           "\t.loc\t1 12 3\n\tst.global.b32", "\t.file\t1 \"kernel.cu\"\n\t.file\t2 \"common/edges.cuh\"\n",
           "$L__info_string0:\n.b8 95,90,52,108,111,97,100,0\n");
}

Test(irptx, gives_what_has_no_line_that_of_its_first_use)
{
    expect("  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !6\n  %y = load float, ptr %q, align 4\n"
           "  %z = fadd float %y, %x\n  store float %z, ptr %p, align 4, !dbg !5\n  ret void",
           "bar", "\t.loc\t1 12 3\n\tld.global.b32", "add.rn.f32", "st.global.b32");
    expect_not(
        "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !5\n  %y = load float, ptr %q, align 4\n"
        "  store float %y, ptr %p, align 4\n  ret void",
        "bar.sync \t0;\n\t.loc");
}

Test(irptx, keeps_an_accumulator_of_inline_assembly_in_its_register)
{
    expect("  br label %loop\nloop:\n  %a = phi float [ %x, %entry ], [ %b, %loop ]\n  %i = phi i32 [ 0, %entry ], [ "
           "%j, %loop ]\n"
           "  %b = call float asm sideeffect \"mad $0, $$1, $2;\", \"=f,0,r\"(float %a, i32 %i)\n  %j = add i32 %i, 1\n"
           "  %c = icmp eq i32 %j, %n\n  br i1 %c, label %done, label %loop\ndone:\n  store float %b, ptr %p, align "
           "4\n  ret void",
           "$L_k_1:\n\tmad %r", ", $1, %r", "bra \t$L_k_1;");
    expect_not(
        "  %b = call float asm \"mad $0, $1;\", \"=f,0\"(float %x)\n  store float %b, ptr %p, align 4\n  ret void",
        "mov");
}

Test(irptx, chooses_among_the_elements_of_a_vector_by_a_variable_index)
{
    expect("  %v = load <2 x float>, ptr %q, align 8\n  %e = extractelement <2 x float> %v, i32 %n\n  store float %e, "
           "ptr %p, align 4\n"
           "  ret void",
           "ld.global.v2.b32", "setp.eq.s32", "selp.b32", "st.global.b32");
}

Test(irptx, asks_for_a_kind_of_float_by_ranges_of_its_bits)
{
    const char *const declared = "declare i1 @llvm.is.fpclass.f32(float, i32)";
    const char *const rest = "  %w = zext i1 %k to i32\n  store i32 %w, ptr %p, align 4\n  ret void";
    char body[512];
    // Finite: from +0 to the largest number, and the same with the other sign.
    snprintf(body, sizeof body, "  %%k = call i1 @llvm.is.fpclass.f32(float %%x, i32 504)\n%s", rest);
    expect_with(declared, body, "setp.le.u32", ", 2139095039;", "sub.s32", ", -2147483648;", "setp.le.u32",
                ", 2139095039;", "or.pred", "st.global.b32", NULL);
    // NaN: what is behind infinity.
    snprintf(body, sizeof body, "  %%k = call i1 @llvm.is.fpclass.f32(float %%x, i32 3)\n%s", rest);
    expect_with(declared, body, "sub.s32", ", 2139095041;", "setp.le.u32", ", 8388606;", "sub.s32", ", -8388607;",
                "setp.le.u32", "or.pred", NULL);
}

Test(irptx, multiplies_in_128_bits)
{
    expect("  %v = load i64, ptr %q, align 8\n  %a = zext i64 %v to i128\n  %m = mul nuw i128 %a, %a\n  %h = lshr i128 "
           "%m, 64\n"
           "  %t = trunc nuw i128 %h to i64\n  store i64 %t, ptr %p, align 8\n  ret void",
           "mul.hi.u64", "st.global.b64");
}

Test(irptx, writes_variables_with_addresses_and_calls_of_other_functions)
{
    expect_with("@s = internal addrspace(1) constant [3 x i8] c\"hi\\00\", align 1\n"
                "@t = internal addrspace(1) constant [2 x ptr] [ptr addrspacecast (ptr addrspace(1) @s to ptr), ptr "
                "null], align 8\n"
                "declare i32 @vprintf(ptr, ptr)",
                "  %r = call i32 @vprintf(ptr addrspacecast (ptr addrspace(1) @s to ptr), ptr null)\n  store i32 %r, "
                "ptr %p, align 4\n"
                "  ret void",
                ".global .align 1 .b8 s[3] = {104, 105};", ".global .align 8 .u64 t[2] = {generic(s), 0};",
                ".extern .func (.param .b32 ret) vprintf(.param .b64 vprintf_param_0, .param .b64 vprintf_param_1);",
                "call.uni (ret), vprintf, (arg0, arg1);", NULL);
}

Test(irptx, puts_what_a_variable_points_to_before_it)
{
    expect_with(
        "@t = internal addrspace(4) constant [1 x ptr] [ptr addrspacecast (ptr addrspace(1) @s to ptr)], align 8\n"
        "@s = internal addrspace(1) constant [2 x i8] c\"a\\00\", align 1",
        "  ret void", ".global .align 1 .b8 s[2] = {97};", ".const .align 8 .u64 t[1] = {generic(s)};", NULL);
}

Test(irptx, adds_to_the_number_of_an_address)
{
    expect_with("@tile = internal addrspace(3) global [64 x i32] poison, align 16",
                "  %v = call i32 asm \"read $0, $1;\", \"=r,r\"(i32 add (i32 ptrtoint (ptr addrspace(3) @tile to i32), "
                "i32 16))\n"
                "  store i32 %v, ptr %p, align 4\n  ret void",
                "mov.u32", "tile;", "add.s32", ", 16;", "read %r", NULL);
}

Test(irptx, takes_the_difference_of_two_addresses_in_a_variable)
{
    expect_with(
        "@tile = internal addrspace(3) global [64 x i32] poison, align 16",
        "  store i64 sub (i64 ptrtoint (ptr getelementptr (i8, ptr addrspacecast (ptr addrspace(3) @tile to ptr), i64 "
        "24) to "
        "i64), i64 ptrtoint (ptr addrspacecast (ptr addrspace(3) @tile to ptr) to i64)), ptr %p, align 8\n  ret void",
        "mov.b64", ", 24;", "st.global.b64", NULL);
}

Test(irptx, hands_structs_over_by_value)
{
    expect_with(
        "%struct.pair = type { i32, i32 }\n"
        "define internal i32 @first(ptr noundef byval(%struct.pair) align 4 %s) {\n  %v = load i32, ptr %s, align 4\n"
        "  ret i32 %v\n}",
        "  %r = call i32 @first(ptr noundef byval(%struct.pair) align 4 %q)\n  store i32 %r, ptr %p, align 4\n  ret "
        "void",
        ".func (.param .b32 ret) first(.param .align 4 .b8 first_param_0[8]);", "ld.param.b32", "st.local.b32",
        "ld.local.b32", "st.param.b32 \t[first_ret]", "ld.global.b32", "st.param.b32 [arg0+0]", "st.param.b32 [arg0+4]",
        "call.uni (ret), first, (arg0);", NULL);
}

Test(irptx, says_what_it_does_not_know_with_the_line_of_the_kernel)
{
    refuse("", "  %i = call i32 @llvm.frobnicate.i32(i32 %n), !dbg !6\n  store i32 %i, ptr %p, align 4\n  ret void",
           "kernel.cu:12: llvm.frobnicate is not known");
    refuse("", "  %i = frobnicate i32 %n, !dbg !5\n  ret void",
           "kernel.cu:12: the instruction frobnicate is not known");
    refuse("", "  %i = add x86_fp80 %n, 1, !dbg !5\n  ret void", "kernel.cu:12: the type x86_fp80 is not known");
    refuse("", "  store i32 %n, !dbg !5\n  ret void", "kernel.cu:12: the IR has an instruction with too few operands");
    refuse("", "  br label %nowhere", "the IR has a branch to a block that it has not");
    refuse("@a = alias i32, ptr @b", "  store i32 1, ptr @a, align 4, !dbg !5\n  ret void",
           "kernel.cu:12: the address of a is not known here");
}
