// simt with kernels as learners bring them: structs by value, variables that the host sets, names, several launches on
// the same memory. SIMT is the program, OWN_PTX what nvcc makes of tests/kernels/own.cu.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "program_case.h"

TestSuite(own, .fini = forget_scratch);

Test(own, kernels_are_not_launched_without_end)
{
#define FOUR "--", "good", "--", "good", "--", "good", "--", "good"
    refuses("launches", "more than 16 launches", SIMT, "run", OWN_PTX, "good", FOUR, FOUR, FOUR, FOUR, NULL);
}

Test(own, inspect_sums_up_what_can_run_and_why_the_rest_cannot)
{
    static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n.global .texref picture;\n"
                               ".visible .entry good()\n{\nret;\n}\n"
                               ".visible .entry bad1(.param .u64 x)\n{\n.reg .b64 %d;\nmov.u64 %d, picture;\nret;\n}\n"
                               ".visible .entry bad2()\n{\n.reg .b64 %d;\nmov.u64 %d, picture;\nret;\n}\n"
                               ".visible .entry worse()\n{\n.reg .b64 %d\nret;\n}\n";
    struct run r;
    run(&r, SIMT, "inspect", scratch(text, strlen(text)), NULL);
    shown(&r, 2, "4 kernels, 3 cannot run here:");
    shown(&r, 2, "   2  'picture' cannot be used: textures are not supported");
    shown(&r, 2, "   1  expected ';' before 'ret'");
    shows(0, "", SIMT, "run", scratch(text, strlen(text)), "good", NULL);
    refuses("a kernel that cannot run", "textures are not supported", SIMT, "run", scratch(text, strlen(text)), "bad2",
            NULL);
}

Test(own, variables_are_set_shown_and_written_to_files)
{
    struct run r;
    double bytes = 0;
    shows(0, "y, f32[4]: 10 40 130 340\ncounter, u32[1]: 9\n", SIMT, "run", OWN_PTX, "polynomial", "--block", "4",
          "--set", "coefficients=f32:{1,2,0,1}", "--set", "side=i32:10", "--show", "y", "--show", "counter",
          "f32[4]=iota", "y=f32[4]=uninit", NULL);
    shows(0, "argument 1, f32[4]: 2 3\n", SIMT, "run", OWN_PTX, "polynomial", "--block", "4", "--set",
          "coefficients=f32[4]=iota[0:2]", "--set", "shapes::side=i32:1", "--show", "1[2:4]", "f32[4]=iota",
          "f32[4]=uninit", NULL);
    char where[128];
    snprintf(where, sizeof where, "counter=%s", scratch(" ", 1));
    run(&r, SIMT, "run", OWN_PTX, "polynomial", "--block", "2", "--dump", where, "f32[4]=iota", "f32[4]=uninit", NULL);
    FILE *f = fopen(where + strlen("counter="), "rb");
    cr_assert(f && fread(&bytes, 1, sizeof bytes, f) == 4, "a variable of 4 bytes makes a file of 4");
    fclose(f);
    unsigned counter;
    memcpy(&counter, &bytes, sizeof counter);
    cr_assert_eq(counter, 7, "%u", counter);
}

Test(own, a_variable_that_is_not_there_or_too_small_is_refused)
{
    refuses("no variable", "no variable 'nothing'", SIMT, "run", OWN_PTX, "wide", "--set", "nothing=f32:1", "u64[1]=0",
            "u32[1]=0", "i64[1]=0", NULL);
    refuses("too large", "has 8 bytes, the variable has 4", SIMT, "run", OWN_PTX, "wide", "--set", "counter=i32:{1,2}",
            "u64[1]=0", "u32[1]=0", "i64[1]=0", NULL);
    refuses("another type", "floating-point", SIMT, "run", OWN_PTX, "wide", "--set", "counter=f32:1", "u64[1]=0",
            "u32[1]=0", "i64[1]=0", NULL);
    refuses("no such argument", "argument 9 is not an array", SIMT, "run", OWN_PTX, "wide", "--dump", "9=/dev/null",
            "u64[1]=0", "u32[1]=0", "i64[1]=0", NULL);
    refuses("too many elements", "it has 1 elements", SIMT, "run", OWN_PTX, "wide", "--show", "0[0:2]", "u64[1]=0",
            "u32[1]=0", "i64[1]=0", NULL);
}

Test(own, structs_and_arrays_are_passed_by_value)
{
    struct run r;
    shows(0, "f64[7]: 1 3 7 2.5 6 9 8", SIMT, "run", OWN_PTX, "by_value",
          "struct:{f32:{1,2,3},i8:7,f64:2.5,i32[2]={5,6},f32x4:{1,2,3,9}}", "struct:{f32:{7,8,9}}", "f64[7]=zeros",
          NULL);
    run(&r, SIMT, "run", OWN_PTX, "by_value", "struct:{f32:{1,2,3},i8:7,f64:2.5,l=i32[2]={5,6},f32x4:{1,2,3,9}}",
        "bytes:0000e04000000041000010c1", "f64[7]=zeros", NULL);
    shown(&r, 0, "f64[7]: 1 3 7 2.5 6 9 8");
    shown(&r, 0, "l, i32[2]: 5 6");
}

Test(own, structs_of_another_size_or_shape_are_refused)
{
    refuses("too small", "has 12 bytes; the parameter is a struct or an array of 48 bytes", SIMT, "run", OWN_PTX,
            "by_value", "struct:{f32:{1,2,3}}", "f32:{1,2,3}", "f64[7]=zeros", NULL);
    static const char *const bad[][2] = { { "struct:{}", "at least one field" },
                                          { "struct:{i32:1", "write TYPE:VALUE" },
                                          { "bytes:123", "hexadecimal" },
                                          { "f32:{1,x}", "'x'" },
                                          { "f32x3:{1,2,3}", "write TYPE:VALUE" },
                                          { "f32x4:{1,2,3}", "as many numbers" },
                                          { "f32[4]=iota[3:9]", "[FROM:TO]" },
                                          { "f32[2]={1,2,3}", "2 elements" },
                                          { "f32[2]={1,oh}", "'oh'" },
                                          { "unknown", "no array has this name" },
                                          { "i32=f32[2]=iota", "write TYPE:VALUE" } };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        refuses(bad[i][0], bad[i][1], SIMT, "run", OWN_PTX, "by_value", bad[i][0], NULL);
    }
    char deep[4096] = "";
    for (int i = 0; i < 40; i++)
        strcat(deep, "struct:{");
    strcat(deep, "i32:1");
    for (int i = 0; i < 40; i++)
        strcat(deep, "}");
    refuses("deep", "too deeply", SIMT, "run", OWN_PTX, "by_value", deep, NULL);
}

Test(own, a_kernel_is_found_by_its_name_in_the_source_or_a_part_of_it)
{
    static const char *const names[] = { "_ZN6shapes5scaleIfLi2EEEvPT_", "shapes::scale<float, 2>(float*)",
                                         "shapes::scale<float, 2>", "scale<f", "scaleIf" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        shows(0, "f32[4]: 0 2 4 6", SIMT, "run", OWN_PTX, names[i], "--block", "4", "f32[4]=iota", NULL);
    }
    refuses("two kernels", "several kernels: shapes::scale<float, 2>(float*), shapes::scale<int, 3>(int*)", SIMT, "run",
            OWN_PTX, "scale", "f32[4]=iota", NULL);
    refuses("no kernel", "no kernel 'scalar': the file has polynomial, through_pointer, ", SIMT, "run", OWN_PTX,
            "scalar", "f32[4]=iota", NULL);
    refuses("no array", "there is no array 'z'; the command names x, and there is no variable 'z': the file has ", SIMT,
            "run", OWN_PTX, "scale<float", "--block", "4", "--show", "z", "x=f32[4]=iota", NULL);
}

Test(own, arguments_must_have_the_type_that_the_ptx_states)
{
    refuses("integer for float", "(an integer); the parameter is .f32: write f32:VALUE", SIMT, "run", OWN_PTX,
            "through_pointer", "i32:2", NULL);
    refuses("f64 for f32", "has 8 bytes (a floating-point number); the parameter is .f32: write f32:VALUE", SIMT, "run",
            OWN_PTX, "through_pointer", "f64:2", NULL);
    refuses("a float for a pointer", "the parameter is .u64: write u64:VALUE or an array", SIMT, "run", OWN_PTX,
            "dynamic", "f64:2", NULL);
    refuses("an array for a float", "(an address)", SIMT, "run", OWN_PTX, "through_pointer", "f32[2]=iota", NULL);
}

Test(own, launches_follow_each_other_on_the_same_memory)
{
    struct run r;
    shows(0, "x, f32[4]: 0 4 8 12\n", SIMT, "run", OWN_PTX, "scale<float", "--block", "4", "x=f32[4]=iota", "--",
          "scale<float", "x", "--", "scale<float", "--block", "1", "x", NULL);
    refuses("a name that is used before it is given", "no array has this name", SIMT, "run", OWN_PTX, "scale<float",
            "x", "--", "scale<float", "x=f32[4]=1", NULL);
    shows(0, "x, f32[4]: 7 7 7 6\n", SIMT, "run", OWN_PTX, "scale<float", "--block", "4", "x=f32[4]=iota", "--set",
          "where=x", "--", "through_pointer", "--block", "3", "f32:7", NULL);
    run(&r, SIMT, "check", OWN_PTX, "scale<float", "--block", "4", "x=f32[4]=iota", "--", "scale<float", "--block", "5",
        "x", NULL);
    shown(&r, 1, "--- launch 1: _ZN6shapes5scaleIfLi2EEEvPT_\nThe checks found nothing wrong");
    shown(&r, 1, "byte 16 of x, which has 16 bytes");
    run(&r, SIMT, "profile", OWN_PTX, "scale<float", "--block", "4", "--json", "-", "x=f32[4]=iota", "--",
        "scale<float", "x", NULL);
    cr_assert(r.status == 0 && r.out[0] == '[' && strstr(strstr(r.out, "\"kernel\"") + 1, "\"kernel\""), "%s%s", r.out,
              r.err);
    refuses("nothing to launch", "behind --", SIMT, "run", OWN_PTX, "scale<float", "x=f32[4]=iota", "--", NULL);
}

Test(own, arrays_are_initialised_in_part_and_shown_in_part)
{
    struct run r;
    run(&r, SIMT, "check", OWN_PTX, "scale<float", "--block", "4", "f32[4]=iota[0:3]", NULL);
    shown(&r, 1, "initcheck");
    cr_expect_null(strstr(r.out, "beta"), "this kernel has no beta: %s", r.out);
    shows(0, "nothing wrong", SIMT, "check", OWN_PTX, "scale<float", "--block", "3", "f32[4]={5,6,7}", NULL);
    shows(0, "argument 0, f32[100]:\n  14: 2.5 2.5 2.5 2.5 2.5 2.5 2.5 2.5\n  22: 2.5 2.5\n", SIMT, "run", OWN_PTX,
          "scale<float", "--block", "4", "--show", "0[14:24]", "f32[100]=2.5", NULL);
}

Test(own, whole_numbers_are_shown_in_full)
{
    struct run r;
    run(&r, SIMT, "run", OWN_PTX, "wide", "u64[1]=0", "u32[1]=0", "i64[1]=0", NULL);
    shown(&r, 0, "u64[1]: 18446744073709551615\n");
    shown(&r, 0, "u32[1]: 4294967295\n");
    shown(&r, 0, "i64[1]: -9223372036854775807\n");
}

Test(own, a_launch_without_shared_memory_for_a_dynamic_array_is_told_so)
{
    struct run r;
    run(&r, SIMT, "check", OWN_PTX, "dynamic", "--block", "32", "f32[32]=0", NULL);
    cr_assert(r.status == 1 && strstr(r.err, "'staged' is extern __shared__") && strstr(r.err, "--shared BYTES"), "%s",
              r.err);
    run(&r, SIMT, "check", OWN_PTX, "dynamic", "--block", "32", "--shared", "128", "f32[32]=0", NULL);
    cr_assert(r.status == 0 && !r.err[0], "%s", r.err);
}

Test(own, a_parameter_can_be_read_at_an_address_in_a_register)
{
    shows(0, "nothing wrong", SIMT, "check", OWN_PTX, "by_index", "--block", "4",
          "struct:{i32:3,f32:{10,20,30,40,50,60,70,80}}", "f32[4]=uninit", NULL);
    shows(0, "argument 1, f32[4]: 10 20 30 10\nargument 1 of launch 2, f32[4]: 1 2 3 4\n", SIMT, "run", OWN_PTX,
          "by_index", "--block", "4", "struct:{i32:3,f32:{10,20,30,40,50,60,70,80}}", "f32[4]=uninit", "--", "by_index",
          "struct:{i32:8,f32:{1,2,3,4,5,6,7,8}}", "f32[4]=uninit", NULL);
}

Test(own, the_threads_of_a_grid_wait_for_each_other)
{
    shows(0, "i32[64]: 2016 2016\n", SIMT, "run", OWN_PTX, "whole_grid", "--block", "64", "i32[64]=uninit", "--show",
          "0[62:64]", NULL);
}

Test(own, special_registers_of_clusters_time_and_the_driver)
{
    shows(0, "u64[5]: 1 0 3 0 0\n", SIMT, "run", OWN_PTX, "registers", "--grid", "3", "--jobs", "1", "u64[5]=9", NULL);
}

Test(own, functions_are_called_through_tables_and_virtually)
{
    shows(0, "nothing wrong", SIMT, "check", OWN_PTX, "by_table", "--block", "4", "f32[4]=iota", NULL);
    shows(0, "f32[4]: 3 4 7 12\n", SIMT, "run", OWN_PTX, "by_table", "--block", "4", "f32[4]=iota", NULL);
    shows(0, "f32[4]: 5 36 7 64\n", SIMT, "run", OWN_PTX, "by_virtual", "--block", "4", "f32[4]={5,6,7,8}", NULL);
    // A pointer that is no function's: the table without its addresses.
    refuses("a null pointer", "a call through a pointer that is null", SIMT, "run", OWN_PTX, "by_table", "--set",
            "table=u64[2]=0", "--block", "4", "f32[4]=iota", NULL);
}

Test(own, functions_may_call_themselves)
{
    shows(0, "i32[12]: 3 5 8 13 21 34 55 89\n", SIMT, "run", OWN_PTX, "recursive", "--block", "12", "--show", "0[4:12]",
          "i32[12]=0", NULL);
    shows(0, "nothing wrong", SIMT, "check", OWN_PTX, "recursive", "--block", "12", "i32[12]=0", NULL);
    shows(0, "i32[7]: 101 2 103 4 105 6 107\n", SIMT, "run", OWN_PTX, "mutual", "--block", "7", "i32[7]=0", NULL);
    shows(0, "i32[1]: 1743392200\n", SIMT, "run", OWN_PTX, "too_deep", "i32[1]=20", NULL);
    refuses("too deep", "its stack is full", SIMT, "run", OWN_PTX, "too_deep", "i32[1]=1000000", NULL);
}

Test(own, kernels_allocate_memory)
{
    struct run r;
    run(&r, SIMT, "check", OWN_PTX, "heap", "--grid", "2", "--block", "4", "i32[4]=0", "i32:3", NULL);
    cr_assert(!strstr(r.out, "memcheck") && !strstr(r.out, "initcheck"), "%s", r.out);
    for (int times = 0; times < 2; times++) {  // the second has more than the heap holds, so pieces of it come again
        shows(0, "nothing wrong", SIMT, "check", OWN_PTX, "heap", "--block", "64", "i32[64]=0",
              times ? "i32:400" : "i32:3", NULL);
    }
    run(&r, SIMT, "check", OWN_PTX, "heap_is_unset", "--grid", "2", "--block", "64", "i32[128]=0", NULL);
    cr_assert(r.status == 1 && strstr(r.out, "not initialised (initcheck): own.cu:") && !strstr(r.out, "racecheck"),
              "%s", r.out);
    shows(0, "i32[4]: 19999 20000 20001 20002\n", SIMT, "run", OWN_PTX, "heap", "--grid", "2", "--block", "4",
          "i32[4]=0", "i32:20000", NULL);
    shows(0, "i32[2]: 1 1\n", SIMT, "run", OWN_PTX, "heap_is_full", "i32[2]=0", NULL);
}

Test(own, printf_returns_the_number_of_its_values)
{
    shows(0, "7 and more\nargument 0, i32[1]: 2\n", SIMT, "run", OWN_PTX, "printed", "i32[1]=7", NULL);
    shows(0, "nothing wrong", SIMT, "check", OWN_PTX, "printed", "i32[1]=7", NULL);
}

Test(own, a_constant_that_nobody_set_is_noted)
{
    struct run r;
    run(&r, SIMT, "run", OWN_PTX, "polynomial", "--set", "coefficients=f32:{1,2,0,1}", "f32[4]=iota", "f32[4]=uninit",
        NULL);
    cr_assert(r.status == 0 && strstr(r.err, "__constant__ shapes::side holds zeros: --set shapes::side=") &&
                  !strstr(r.err, "coefficients"),
              "%s", r.err);
    run(&r, SIMT, "run", OWN_PTX, "wide", "u64[1]=0", "u32[1]=0", "i64[1]=0", NULL);
    cr_assert(r.status == 0 && !r.err[0], "%s", r.err);
}
