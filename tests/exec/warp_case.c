// See warp_case.h.
#include "warp_case.h"

#include <criterion/criterion.h>
#include <string.h>

enum { MOST = 128 };

void expect_failure(const char *text, unsigned threads, const char *const *parts)
{
    struct dev *d = ptx_simulator();
    uint32_t out[MOST] = { 0 }, in[1] = { 0 };
    cr_assert_not(ptx_run(d, text, (struct ptx_shape){ 1, threads, 0 }, out, MOST, in, 1), "it ran to its end");
    for (; *parts; parts++)
        cr_expect_not_null(strstr(dev_error(d), *parts), "'%s' is not in: %s", *parts, dev_error(d));
    cr_expect_null(strchr(dev_error(d), '\n'), "more than a line: %s", dev_error(d));
    dev_close(d);
}
