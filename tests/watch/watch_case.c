// See watch_case.h.
#include "watch_case.h"

#include <criterion/criterion.h>
#include <string.h>

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
