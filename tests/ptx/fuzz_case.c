// See fuzz_case.h.
#include "fuzz_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simt/device/state.h"

enum { BUDGET = 4000, MEMORY = 64 << 20, BUFFER = 8192, PARAMS_MAX = 4096, ARGS_MAX = 64, KERNELS_MAX = 4 };

static void broken(const char *promise, const char *message)
{
    fprintf(stderr, "%s: '%s'\n", promise, message);
    abort();
}

static void expect_line(const char *error)
{
    if (!*error || strlen(error) >= DEV_ERROR_MAX)
        broken("a failure without a message", "");
    for (const char *c = error; *c; c++)
        if ((unsigned char)*c < ' ')
            broken("a message of more than a line", error);
}

static struct simt *simulator(void)
{
    struct simt *s = simt_open();
    if (!s)
        abort();
    s->budget = BUDGET;
    s->jobs = 1;
    s->memory_limit = MEMORY;
    return s;
}

// The text is copied, so that AddressSanitizer sees its end.
static struct simt_module *load(struct simt *s, const char *text, size_t bytes, char error[DEV_ERROR_MAX])
{
    char *copy = malloc(bytes + 1);
    if (!copy)
        abort();
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    *error = '\0';
    struct simt_module *m = simt_load(s, "fuzz.ptx", copy, bytes, error);
    if (!m)
        expect_line(error);
    free(copy);
    return m;
}

bool fuzz_load(const char *text, size_t bytes)
{
    struct simt *s = simulator();
    char error[DEV_ERROR_MAX], caret[400];
    struct simt_module *m = load(s, text, bytes, error);
    bool any = false;
    for (uint32_t i = 0; m && i < m->n_kernels; i++) {
        const struct simt_kernel *k = &m->kernels[i];
        any |= k->code != NULL;
        if (k->code)
            continue;
        expect_line(k->error);
        ptx_caret(m->ptx, k->error_at, caret, sizeof caret);
    }
    simt_close(s);
    return any;
}

// What the kernel takes, out of params. False if it takes more.
static bool arguments(const struct simt_kernel *k, const uint64_t params[PARAMS_MAX / 8], struct dev_arg args[ARGS_MAX])
{
    struct simt_parameter p;
    uint32_t i = 0;
    for (; i < ARGS_MAX && simt_parameter(k, i, &p); i++) {
        if (p.at > PARAMS_MAX || p.bytes > PARAMS_MAX - p.at)
            return false;
        args[i] = (struct dev_arg){ (const char *)params + p.at, p.bytes };
    }
    return i == k->func->n_params;
}

bool fuzz_run(const char *text, size_t bytes)
{
    static const struct {
        unsigned grid[3], block[3];
        size_t shared;
    } shapes[] = { { { 1, 1, 1 }, { 32, 1, 1 }, 64 },
                   { { 2, 1, 1 }, { 16, 2, 2 }, 0 },
                   { { 1, 1, 2 }, { 40, 1, 1 }, 16 } };
    struct simt *s = simulator();
    char error[DEV_ERROR_MAX];
    struct simt_module *m = load(s, text, bytes, error);
    uint64_t buffers[2] = { memory_alloc(&s->memory, "out", BUFFER), memory_alloc(&s->memory, "in", BUFFER) };
    if (!buffers[0] || !buffers[1])
        abort();
    for (uint32_t b = 0; b < 2; b++)
        for (uint32_t i = 0; i < BUFFER; i++)
            ((unsigned char *)memory_at(&s->memory, buffers[b], BUFFER))[i] =
                (unsigned char)(b ? 37 * i + (i >> 8) : 0);
    uint64_t params[PARAMS_MAX / 8];
    for (size_t i = 0; i < sizeof params / sizeof *params; i++)
        params[i] = buffers[i % 2];
    struct dev_arg args[ARGS_MAX];
    bool any = false;
    for (uint32_t i = 0; m && i < m->n_kernels && i < KERNELS_MAX; i++) {
        struct simt_kernel *k = &m->kernels[i];
        for (size_t j = 0; j < sizeof shapes / sizeof *shapes; j++) {
            if (!arguments(k, params, args))
                continue;
            struct dev_launch l = { .shared = shapes[j].shared, .args = args, .n_args = k->func->n_params };
            memcpy(l.grid, shapes[j].grid, sizeof l.grid);
            memcpy(l.block, shapes[j].block, sizeof l.block);
            *error = '\0';
            s->checks = j % 2;
            if (simt_launch(s, k, &l, error))
                any = true;
            else
                expect_line(error);
        }
    }
    simt_close(s);
    return any;
}
