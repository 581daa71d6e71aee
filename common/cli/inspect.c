// simt inspect: what is in a PTX file, and what of it cannot run here.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "command.h"

struct opcode_count {
    const char *op;
    uint32_t bytes, count;
};

static int by_count(const void *a, const void *b)
{
    const struct opcode_count *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    uint32_t n = x->bytes < y->bytes ? x->bytes : y->bytes;
    int order = memcmp(x->op, y->op, n);
    return order ? order : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static bool histogram(const struct simt_kernel *k, uint32_t instructions)
{
    struct opcode_count *counts = calloc(instructions + 1, sizeof *counts);
    struct simt_instruction in;
    size_t n = 0;
    if (!counts)
        return false;
    for (uint32_t i = 0; simt_instruction(k, i, &in); i++) {
        size_t t = 0;
        while (t < n && (counts[t].bytes != in.op_bytes || memcmp(counts[t].op, in.op, in.op_bytes)))
            t++;
        n += t == n;
        counts[t].op = in.op;
        counts[t].bytes = in.op_bytes;
        counts[t].count++;
    }
    qsort(counts, n, sizeof *counts, by_count);
    for (size_t t = 0; t < n; t++)
        printf("  %6u  %.*s\n", counts[t].count, (int)counts[t].bytes, counts[t].op);
    free(counts);
    return true;
}

static void show_parameters(const struct simt_kernel *k)
{
    struct simt_parameter p;
    for (uint32_t i = 0; simt_parameter(k, i, &p); i++) {
        if (p.scalar)
            printf("  parameter %u: .%s\n", i, p.type.name);
        else
            printf("  parameter %u: %" PRIu64 " bytes, aligned to %u\n", i, p.bytes, p.align);
    }
}

static void show_name(const char *what, const char *name)
{
    char source[SIMT_NAME_MAX];
    if (simt_source_name(name, source))
        printf("%s %s: %s\n", what, name, source);
    else
        printf("%s %s\n", what, name);
}

static bool show_kernel(const struct simt_kernel *k)
{
    const struct simt_kernel_about a = simt_kernel_about(k);
    putchar('\n');
    show_name("kernel", a.name);
    show_parameters(k);
    if (a.max_threads)
        printf("  launch bounds: %u threads a block\n", a.max_threads);
    if (!a.error) {
        printf("  static shared memory: %u bytes a block; local memory: %u bytes a thread\n", a.shared, a.local);
    } else {
        char caret[512];
        simt_kernel_caret(k, caret, sizeof caret);
        printf("  cannot run here: %s\n%s", a.error, caret);
    }
    if (!a.read)
        return true;
    printf("  %u instructions:\n", a.instructions);
    return histogram(k, a.instructions);
}

// __constant__ and __device__ variables, for --set and --dump
static void show_variables(const struct simt_module *m)
{
    struct simt_variable v;
    bool any = false;
    for (uint32_t i = 0; simt_variable_at(m, i, &v); i++) {
        if (!*v.name || *v.name == '$' || !strncmp(v.name, "__unnamed", 9))
            continue;  // a text that a kernel prints
        printf(any ? "" : "\n");
        any = true;
        printf("variable %s: .%s, %" PRIu64 " bytes%s\n", v.name, v.constant ? "const" : "global", v.bytes,
               v.initial ? ", initialised" : "");
    }
}

// How many kernels cannot run, and each reason once.
static uint32_t summarise(struct simt_module *m)
{
    const uint32_t n = simt_module_about(m).kernels;
    uint32_t refused = 0;
    for (uint32_t i = 0; i < n; i++)
        refused += simt_kernel_about(simt_kernel_at(m, i)).error != NULL;
    printf("\n%u kernel%s, %u cannot run here%s\n", n, text_plural(n), refused, refused ? ":" : "");
    for (uint32_t i = 0; i < n; i++) {
        const char *why = simt_kernel_about(simt_kernel_at(m, i)).reason;
        uint32_t same = 0;
        bool told = false;
        for (uint32_t k = 0; k < n && why; k++) {
            const char *other = simt_kernel_about(simt_kernel_at(m, k)).reason;
            if (!other || strcmp(why, other))
                continue;
            told |= k < i;
            same++;
        }
        if (why && !told)
            printf("  %4u  %s\n", same, why);
    }
    return refused;
}

int command_inspect(struct simt_module *m)
{
    const struct simt_module_about a = simt_module_about(m);
    printf("%s: PTX %s for %s, %u kernel%s\n", a.file, a.version, a.target, a.kernels, text_plural(a.kernels));
    for (uint32_t i = 0; i < a.kernels; i++)
        if (!show_kernel(simt_kernel_at(m, i)))
            return command_unable("out of memory");
    show_variables(m);
    return summarise(m) ? EXIT_UNABLE : EXIT_CLEAN;
}
