// Tests of common/base/json and of the JSON and tables that common/base/profile writes.
#include <criterion/criterion.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/profile.h"
#include "base/text.h"

static char text[16384];
static FILE *out;
static struct json j;

static void begin(void)
{
    memset(text, 0, sizeof text);
    out = fmemopen(text, sizeof text, "w");
    json_open(&j, out);
}

static void expect(const char *want)
{
    bool ok = json_close(&j);
    fclose(out);
    cr_expect(ok, "json_close failed: %s", strerror(errno));
    cr_expect_str_eq(text, want);
}

TestSuite(json, .init = begin);

Test(json, an_empty_object_has_no_line_of_its_own)
{
    json_object(&j, NULL);
    json_end(&j);
    expect("{}\n");
}

Test(json, nests_objects_and_arrays_with_commas_between)
{
    json_object(&j, NULL);
    json_string(&j, "a", "x");
    json_array(&j, "b");
    json_int(&j, NULL, -1);
    json_uint(&j, NULL, UINT64_MAX);
    json_object(&j, NULL);
    json_bool(&j, "t", true);
    json_bool(&j, "f", false);
    json_end(&j);
    json_array(&j, NULL);
    json_end(&j);
    json_end(&j);
    json_int(&j, "c", INT64_MIN);
    json_end(&j);
    expect("{\n  \"a\": \"x\",\n  \"b\": [\n    -1,\n    18446744073709551615,\n    {\n      \"t\": true,\n"
           "      \"f\": false\n    },\n    []\n  ],\n  \"c\": -9223372036854775808\n}\n");
}

Test(json, escapes_what_must_be_escaped)
{
    json_string(&j, NULL, "\" \\ / \b \f \n \r \t \x01 \x1f \x7f");
    expect("\"\\\" \\\\ / \\b \\f \\n \\r \\t \\u0001 \\u001f \x7f\"\n");
}

Test(json, escapes_keys_too)
{
    json_object(&j, NULL);
    json_int(&j, "a\"b", 1);
    json_end(&j);
    expect("{\n  \"a\\\"b\": 1\n}\n");
}

Test(json, passes_utf8_and_replaces_every_byte_that_is_not)
{
    // Good: 2, 3 and 4 bytes. Bad: a lone continuation, overlong '/', a surrogate, above U+10FFFF, cut short.
    json_string(&j, NULL,
                "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80|\x80|\xc0\xaf|\xed\xa0\x80|\xf4\x90\x80\x80|\xe2\x82");
    expect("\"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80|\\ufffd|\\ufffd\\ufffd|\\ufffd\\ufffd\\ufffd|"
           "\\ufffd\\ufffd\\ufffd\\ufffd|\\ufffd\\ufffd\"\n");
}

Test(json, doubles_are_short_and_read_back_as_the_same_number)
{
    const double values[] = { 0.1, 1.0 / 3, 1e300, 5e-324, 123456789012345680.0, 0x1.fffffffffffffp1023 };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        begin();
        json_double(&j, NULL, values[i]);
        json_close(&j);
        fclose(out);
        cr_expect(strtod(text, NULL) == values[i], "%.17g was written as %s", values[i], text);
    }
    begin();
    json_double(&j, NULL, 0.1);
    expect("0.1\n");
}

Test(json, numbers_that_json_does_not_have_are_null)
{
    json_array(&j, NULL);
    json_double(&j, NULL, NAN);
    json_double(&j, NULL, INFINITY);
    json_double(&j, NULL, -INFINITY);
    json_end(&j);
    expect("[\n  null,\n  null,\n  null\n]\n");
}

Test(json, says_when_a_write_failed)
{
    FILE *full = fopen("/dev/full", "w");
    cr_assert_not_null(full);
    json_open(&j, full);
    json_string(&j, NULL, "x");
    cr_expect_not(json_close(&j), "a full disk went unnoticed");
    cr_expect_eq(errno, ENOSPC, "errno is %d", errno);
    fclose(full);
}

Test(json, says_when_the_calls_do_not_pair_up)
{
    json_object(&j, NULL);
    cr_expect_not(json_close(&j), "an object left open went unnoticed");
    begin();
    json_end(&j);
    cr_expect_not(json_close(&j), "an end without a beginning went unnoticed");
    begin();
    for (int i = 0; i <= JSON_DEPTH; i++)
        json_array(&j, NULL);
    for (int i = 0; i <= JSON_DEPTH; i++)
        json_end(&j);
    cr_expect_not(json_close(&j), "nesting deeper than JSON_DEPTH went unnoticed");
}

// --- Profiles ---

static struct profile_line lines[3];
static struct profile profile = { .kernel = "gemm", .lines = lines, .n_lines = 3 };

static void fill_profile(void)
{
    begin();
    memset(lines, 0, sizeof lines);
    lines[0] = (struct profile_line){ .file = "gone.cu", .line = 7 };
    lines[0].metric[METRIC_INST] = 10;
    lines[1] = (struct profile_line){ .file = "gone.cu", .line = 12 };
    lines[1].metric[METRIC_INST] = 1500;
    lines[1].metric[METRIC_GLD_SEC] = 3;
    lines[1].metric[METRIC_GST_SEC] = 4;
    lines[2] = (struct profile_line){ .file = "gone.cu", .line = 13 };
    lines[2].metric[METRIC_INST] = 490;
    profile.total[METRIC_INST] = 2000;
    profile.total[METRIC_GLD_SEC] = 3;
    profile.total[METRIC_GST_SEC] = 4;
}

TestSuite(profile, .init = fill_profile);

Test(profile, groups_digits_in_threes)
{
    char g[TEXT_GROUPED];
    cr_expect_str_eq(text_grouped(0, g), "0");
    cr_expect_str_eq(text_grouped(999, g), "999");
    cr_expect_str_eq(text_grouped(1000, g), "1,000");
    cr_expect_str_eq(text_grouped(UINT64_MAX, g), "18,446,744,073,709,551,615");
}

Test(text, a_duration_has_the_unit_that_people_use)
{
    char t[TEXT_DURATION];
    cr_expect_str_eq(text_duration(0.25, t), "0.2 seconds");
    cr_expect_str_eq(text_duration(9.96, t), "10 seconds");
    cr_expect_str_eq(text_duration(119, t), "119 seconds");
    cr_expect_str_eq(text_duration(720, t), "12 minutes");
    cr_expect_str_eq(text_duration(10080, t), "2.8 hours");
    cr_expect_str_eq(text_duration(40 * 86400.0, t), "40 days");
}

Test(profile, lines_are_printed_hottest_first_with_only_the_columns_that_hold_something)
{
    profile_print_lines(out, &profile, 2);
    fclose(out);
    const char *first = strstr(text, "1,500   75.0 %"), *second = strstr(text, "490   24.5 %");
    cr_expect(first && second && first < second, "not in order of instructions:\n%s", text);
    cr_expect_not_null(strstr(text, "sectors"), "no column for sectors:\n%s", text);
    cr_expect_not_null(strstr(text, "      7     12"), "loads and stores are 7 sectors:\n%s", text);
    cr_expect_null(strstr(text, "conflicts"), "a column of zeros:\n%s", text);
    cr_expect_null(strstr(text, "wavefronts"), "a column of zeros:\n%s", text);
    cr_expect_not_null(strstr(text, "1 more lines with 0.5 %"), "the rest is not accounted for:\n%s", text);
}

Test(profile, the_source_is_shown_where_it_can_be_read)
{
    struct scratch source;
    cr_assert(scratch_open(&source, "k.cu", "first\n\t  second \t\nthird"));
    for (int i = 0; i < 3; i++)
        lines[i] = (struct profile_line){ .file = source.path, .line = (unsigned)i + 2, .metric[METRIC_INST] = 5 };
    profile_print_lines(out, &profile, 10);
    fclose(out);
    scratch_close(&source);
    cr_expect_not_null(strstr(text, "2  second\n"), "no text of line 2:\n%s", text);
    cr_expect_not_null(strstr(text, "3  third\n"), "no text of line 3, which has no newline:\n%s", text);
    cr_expect_not_null(strstr(text, "4  \n"), "line 4 does not exist:\n%s", text);
}

Test(profile, json_has_every_metric_under_its_name)
{
    json_object(&j, NULL);
    profile_json(&j, &profile, "simulated GPU");
    json_end(&j);
    cr_expect(json_close(&j), "%s", strerror(errno));
    fclose(out);
    const char *head = "{\n  \"kernel\": \"gemm\",\n  \"device\": \"simulated GPU\",\n  \"metrics\": {\n";
    cr_expect_eq(strncmp(text, head, strlen(head)), 0, "%s", text);
    cr_expect_not_null(strstr(text, "    \"smsp__inst_executed.sum\": 2000,\n"), "%s", text);
    cr_expect_not_null(strstr(text, "      \"line\": 12,\n"), "%s", text);
}
