// Tests of the options that all drivers share.
#include <criterion/criterion.h>

#include <string.h>

#include "tester/tester_options.h"
#include "tester_case.h"

static enum options_outcome parse(const char *line, enum options_for program, struct tester_options *o, char *error)
{
    static struct words w;  // o->json points into it
    split(&w, line);
    const struct options table = tester_options_for(program, "program");
    char **argv = w.word;
    *o = tester_defaults;
    return options_read(&table, o, &w.n, &argv, error);
}

Test(options, without_any_the_defaults_stand)
{
    struct tester_options o;
    char error[DEV_ERROR_MAX] = "";
    cr_assert_eq(parse("", OPTIONS_FOR_DRIVER, &o, error), OPTIONS_RUN, "%s", error);
    cr_expect(o.m == 0 && o.n == 0 && o.k == 0 && o.alpha == 1 && o.beta == 0 && o.seed == 1);
    cr_expect(o.device == DEV_AUTO && o.warmup == -1 && o.iterations == 0 && o.pause_ms == 0);
    cr_expect(o.check && !o.profile && !o.by_line && !o.json);
}

Test(options, every_one_reaches_its_field)
{
    struct tester_options o;
    char error[DEV_ERROR_MAX] = "";
    const char *line =
        "--m 1 --n=2147483647 --k 0033 --alpha -1.5e-3 --beta=.5 --seed 18446744073709551615 --device sim "
        "--warmup 0";
    cr_assert_eq(parse(line, OPTIONS_FOR_DRIVER, &o, error), OPTIONS_RUN, "%s", error);
    cr_expect(o.m == 1 && o.n == 2147483647 && o.k == 33, "%d %d %d", o.m, o.n, o.k);
    cr_expect(o.alpha == -1.5e-3 && o.beta == 0.5 && o.seed == UINT64_MAX && o.device == DEV_SIM && o.warmup == 0);
    line =
        "--iterations 1000000 --pause-ms 2.5 --no-check --profile --by-line --json a.json --device=gpu --size 9 --n 3";
    cr_assert_eq(parse(line, OPTIONS_FOR_DRIVER, &o, error), OPTIONS_RUN, "%s", error);
    cr_expect(o.iterations == 1000000 && o.pause_ms == 2.5 && !o.check && o.profile && o.by_line);
    cr_expect_str_eq(o.json, "a.json");
    cr_expect(o.device == DEV_GPU && o.m == 9 && o.n == 3 && o.k == 9, "%d %d %d", o.m, o.n, o.k);
    cr_assert_eq(parse("--size 4x5x6 --predict-size 7", OPTIONS_FOR_LADDER, &o, error), OPTIONS_RUN, "%s", error);
    cr_expect(o.m == 4 && o.n == 5 && o.k == 6 && o.predict_size == 7);
    cr_assert_eq(parse("--predict --no-predict", OPTIONS_FOR_LADDER, &o, error), OPTIONS_RUN, "%s", error);
    cr_expect_eq(o.predict, -1);
    cr_expect_eq(parse("--no-check --check", OPTIONS_FOR_DRIVER, &o, error), OPTIONS_RUN);
    cr_expect(o.check, "the last of --no-check --check counts");
}

Test(options, help_and_list)
{
    struct tester_options o;
    char error[DEV_ERROR_MAX];
    cr_expect_eq(parse("--m 3 --help", OPTIONS_FOR_DRIVER, &o, error), OPTIONS_HELP);
    cr_expect(parse("--list", OPTIONS_FOR_LADDER, &o, error) == OPTIONS_RUN && o.list);
    cr_expect_eq(parse("--list --help", OPTIONS_FOR_LADDER, &o, error), OPTIONS_HELP);
    cr_expect_eq(parse("--list", OPTIONS_FOR_DRIVER, &o, error), OPTIONS_BAD, "drivers have no list");
    cr_expect_eq(parse("--profile", OPTIONS_FOR_LADDER, &o, error), OPTIONS_BAD, "the ladder has no --profile");
}

Test(options, bad_ones_get_one_line_with_the_option_the_text_and_what_is_allowed)
{
    for (size_t i = 0; i < n_bad_lines; i++) {
        struct tester_options o;
        char error[DEV_ERROR_MAX] = "";
        cr_expect_eq(parse(bad_lines[i].line, OPTIONS_FOR_DRIVER, &o, error), OPTIONS_BAD, "accepted: %s",
                     bad_lines[i].line);
        for (int s = 0; s < 3; s++)
            cr_expect_not_null(strstr(error, bad_lines[i].says[s]), "%s: no %s in: %s", bad_lines[i].line,
                               bad_lines[i].says[s], error);
        cr_expect_null(strchr(error, '\n'), "%s: more than one line: %s", bad_lines[i].line, error);
    }
}

Test(options, a_long_text_with_control_characters_still_makes_one_short_line)
{
    struct tester_options o;
    char error[DEV_ERROR_MAX] = "", text[5000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    memcpy(text, "\x1b[31m\n", 6);
    char *words[] = { "program", "--m", text, NULL }, **argv = words;
    const struct options table = tester_options_for(OPTIONS_FOR_DRIVER, "program");
    int argc = 3;
    cr_expect_eq(options_read(&table, &o, &argc, &argv, error), OPTIONS_BAD);
    cr_expect_lt(strlen(error), 160, "%zu characters: %s", strlen(error), error);
    cr_expect(!strchr(error, '\n') && !strchr(error, '\x1b'), "%s", error);
}
