// See tester_case.h.
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "fake_device.h"
#include "tester_case.h"

const struct step step_f32 = {
    .name = "fake_step",
    .type = DEV_F32,
    .ptx = FAKE_PTX "/fake_f32.ptx",
    .owner = owner_by_patches,
};

const struct step step_f64 = {
    .name = "fake_step",
    .type = DEV_F64,
    .ptx = FAKE_PTX "/fake_f64.ptx",
    .owner = owner_by_patches,
};

struct words *split(struct words *w, const char *line)
{
    memset(w, 0, sizeof *w);
    cr_assert(snprintf(w->copy, sizeof w->copy, "program %s", line) < (int)sizeof w->copy);
    for (char *s = w->copy; w->n < WORDS && *(s += strspn(s, " "));) {
        const char *end = *s == '\'' ? "'" : " ";
        w->word[w->n++] = s += *s == '\'';
        s += strcspn(s, end);
        if (*s)
            *s++ = '\0';
    }
    return w;
}

const struct bad_line bad_lines[] = {
    { "--m 0", { "--m", "\"0\"", "from 1 to 2147483647" } },
    { "--m -3", { "--m", "\"-3\"", "from 1 to 2147483647" } },
    { "--m 1e9", { "--m", "\"1e9\"", "from 1 to 2147483647" } },
    { "--m abc", { "--m", "\"abc\"", "from 1 to 2147483647" } },
    { "--m 2147483648", { "--m", "\"2147483648\"", "from 1 to 2147483647" } },
    { "--m 99999999999999999999999", { "--m", "\"99999999999999999999999\"", "from 1 to" } },
    { "--m ''", { "--m", "\"\"", "from 1 to" } },
    { "--m +5", { "--m", "\"+5\"", "from 1 to" } },
    { "--m 5x", { "--m", "\"5x\"", "from 1 to" } },
    { "--m 0x10", { "--m", "\"0x10\"", "from 1 to" } },
    { "--m 5.0", { "--m", "\"5.0\"", "from 1 to" } },
    { "--n \t7", { "--n", "\"?7\"", "from 1 to" } },
    { "--k=0", { "--k", "\"0\"", "from 1 to 2147483647" } },
    { "--size -1", { "--size", "\"-1\"", "from 1 to" } },
    { "--seed -1", { "--seed", "\"-1\"", "from 0 to 18446744073709551615" } },
    { "--seed 18446744073709551616", { "--seed", "18446744073709551616", "from 0 to" } },
    { "--alpha one", { "--alpha", "\"one\"", "finite number" } },
    { "--alpha nan", { "--alpha", "\"nan\"", "finite number" } },
    { "--beta inf", { "--beta", "\"inf\"", "finite number" } },
    { "--beta 1e999", { "--beta", "\"1e999\"", "finite number" } },
    { "--beta 1,5", { "--beta", "\"1,5\"", "finite number" } },
    { "--pause-ms -1", { "--pause-ms", "\"-1\"", "from 0 to 3600000" } },
    { "--pause-ms nan", { "--pause-ms", "\"nan\"", "from 0 to 3600000" } },
    { "--iterations 0", { "--iterations", "\"0\"", "from 1 to 1000000" } },
    { "--warmup -1", { "--warmup", "\"-1\"", "from 0 to 1000000" } },
    { "--device cuda", { "--device", "\"cuda\"", "auto, gpu or sim" } },
    { "--device ''", { "--device", "\"\"", "auto, gpu or sim" } },
    { "--size", { "--size", "needs a value", "--help" } },
    { "--m 5 --k", { "--k", "needs a value", "--help" } },
    { "--frobnicate", { "unknown option", "\"--frobnicate\"", "--help" } },
    { "--frobnicate=3", { "unknown option", "\"--frobnicate=3\"", "--help" } },
    { "--sieze 4", { "unknown option", "\"--sieze\"", "did you mean --size?" } },
    { "--iterationss", { "unknown option", "\"--iterationss\"", "did you mean --iterations?" } },
    { "--list", { "--list", "goes with the ladder", "--help" } },
    { "--size 4x5", { "--size", "\"4x5\"", "MxNxK" } },
    { "--size 4x5x0", { "--size", "\"4x5x0\"", "from 1 to 2147483647" } },
    { "--ptx ''", { "--ptx", "\"\"", "at least one character" } },
    { "-q", { "unknown option", "\"-q\"", "--help" } },
    { "-qm", { "unknown option", "\"-q\"", "--help" } },
    { "--check=yes", { "--check=yes", "--check", "takes no value" } },
    { "--m 4 512", { "\"512\"", "not an option", "--help" } },
    { "--m 4 -- --n", { "\"--n\"", "not an option", "--help" } },
};
const size_t n_bad_lines = sizeof bad_lines / sizeof bad_lines[0];
