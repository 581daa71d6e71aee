// Tests of common/tester/kernel_text: what the text of a kernel says of its lines.
#include <criterion/criterion.h>

#include <stdio.h>

#include "base/file.h"
#include "tester/kernel_text.h"

static struct scratch file;
static const char *const path = file.path;

static const char text[] = "const unsigned char tid = threadIdx.x;\n"
                           "const bool row = tid / 8, col = tid % 8;\n"
                           "const bool inside = row < M;\n"
                           "const short *p = q, r = 1;\n"
                           "auto step = [&] { A += BK; };\n"
                           "auto copy = [&](bool all) {\n"
                           "    for (int i = 0; i < BK; i++)\n"
                           "        step();\n"
                           "};\n"
                           "copy(false);\n"
                           "for (;;)\n"
                           "    recopy(true), copy(true);\n";

static void write_text(void)
{
    cr_assert(scratch_open(&file, "kernel.cu", text));
}

static void remove_text(void)
{
    scratch_close(&file);
}

TestSuite(kernel_text, .init = write_text, .fini = remove_text);

Test(kernel_text, knows_numbers_of_few_bits)
{
    static const char *const names[] = { NULL, "tid", "row", NULL, NULL, NULL, NULL }, *const types[] = {
        NULL, "char", "bool", NULL, NULL, NULL, NULL
    };
    for (unsigned line = 1; line < sizeof names / sizeof *names; line++) {
        char name[KERNEL_NAME], type[KERNEL_NAME];
        const bool narrow = kernel_text_narrow(path, line, name, type);
        cr_expect_eq(narrow, names[line] != NULL, "line %u", line);
        if (narrow && names[line]) {
            cr_expect_str_eq(name, names[line]);
            cr_expect_str_eq(type, types[line]);
        }
    }
}

Test(kernel_text, knows_the_lambda_of_a_line_and_who_calls_it)
{
    char name[KERNEL_NAME];
    unsigned calls[KERNEL_MAKERS];
    cr_expect(kernel_text_lambda(path, 5, name));
    cr_expect_str_eq(name, "step");
    cr_expect(kernel_text_lambda(path, 8, name));
    cr_expect_str_eq(name, "copy");
    cr_expect_not(kernel_text_lambda(path, 10, name));
    cr_expect_eq(kernel_text_calls(path, 5, calls), 1);
    cr_expect_eq(calls[0], 8);
    cr_expect_eq(kernel_text_calls(path, 7, calls), 2);
    cr_expect(calls[0] == 10 && calls[1] == 12, "%u and %u", calls[0], calls[1]);
    cr_expect_eq(kernel_text_calls(path, 1, calls), 0);
}
