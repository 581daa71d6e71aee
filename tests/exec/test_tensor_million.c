// Tensor cores against a card: every type and class of shapes of wgmma and mma.sync on random and special operands.
// Where a Hopper card is, a million results of each are compared, and none may differ. Everywhere, the simulated GPU's
// first 65,536 are compared with what an H200 gave: truth/h200_tensor.tsv has a hash of them for each instruction.
// With TENSOR_TRUTH=FILE a run on such a card writes that file.
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ptx_case.h"
#include "tensor_case.h"

enum { MILLION = 1000000, STORED = 65536, CASES = 256 };

static size_t units_for(const struct tensor_case *c, size_t elements)
{
    const size_t units = (elements - 1) / tensor_elements(c) + 1;
    return (units + TENSOR_UNITS - 1) / TENSOR_UNITS * TENSOR_UNITS;
}

static uint64_t hash_of(const struct tensor_case *c, const uint32_t *out)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < units_for(c, STORED) * tensor_words_out(c); i++)
        hash = (hash ^ out[i]) * 1099511628211u;
    return hash;
}

static uint32_t *run(struct dev *d, const struct tensor_case *c, size_t units)
{
    static struct text text;
    const size_t n_in = units * tensor_words_in(c), n_out = units * tensor_words_out(c);
    const struct ptx_shape shape = { (unsigned)(units / TENSOR_UNITS), TENSOR_UNITS * tensor_threads(c), 0 };
    uint32_t *in = malloc(4 * n_in), *out = calloc(n_out, 4);
    cr_assert(in && out);
    tensor_fill(c, in, units);
    tensor_kernel(c, &text);
    cr_assert(ptx_run(d, text.p, shape, out, n_out, in, n_in), "%s: %s", c->name, dev_error(d));
    free(in);
    return out;
}

// The stored hash; false if the table does not have it.
static bool stored_hash(const char *name, uint64_t *hash)
{
    struct table t;
    bool found = false;
    truth_open(&t, TENSOR_TSV);
    while (!found && truth_next(&t)) {
        found = !strcmp(t.field[0], name);
        if (found)
            *hash = strtoull(t.field[1], NULL, 16);
    }
    table_close(&t);
    return found;
}

static void compare(const struct tensor_case *c, const uint32_t *sim, const uint32_t *gpu, size_t units)
{
    const size_t n = units * tensor_words_out(c);
    size_t wrong = 0, first = 0;
    for (size_t i = n; i-- > 0;)
        if (sim[i] != gpu[i])
            wrong++, first = i;
    fprintf(stderr, "%s: %zu results, %zu words of %zu differ\n", c->name, units * tensor_elements(c), wrong, n);
    cr_expect_eq(wrong, 0, "%s: %zu words differ; word %zu is %08" PRIx32 " simulated, %08" PRIx32 " on the card",
                 c->name, wrong, first, sim[first], gpu[first]);
}

static struct tensor_case cases[CASES];

Test(tensor_million, as_an_h200_gave_them, .timeout = 300)
{
    if (access(TENSOR_TSV, R_OK))
        cr_skip_test("there is no table of a card's results yet");
    const size_t n = tensor_cases(cases, CASES, MMA_TSV);
    struct dev *d = ptx_simulator();
    size_t known = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t want;
        if (!stored_hash(cases[i].name, &want))
            continue;
        known++;
        uint32_t *out = run(d, &cases[i], units_for(&cases[i], STORED));
        cr_expect_eq(hash_of(&cases[i], out), want, "%s", cases[i].name);
        free(out);
    }
    dev_close(d);
    cr_assert(known == n, "truth/h200_tensor.tsv has %zu of %zu instructions", known, n);
}

Test(tensor_million, on_a_hopper_card, .timeout = 3600)
{
    struct dev *dev[PTX_DEVICES];
    if (ptx_devices_from(dev, 90, true) < 2) {
        dev_close(dev[0]);
        cr_skip_test("needs a Hopper card (compute capability 9.0)");
    }
    const size_t n = tensor_cases(cases, CASES, MMA_TSV);
    const char *path = getenv("TENSOR_TRUTH");
    FILE *truth = path ? fopen(path, "w") : NULL;
    cr_assert(truth || !path, "%s", path);
    if (truth)
        fprintf(truth, "instruction\thash\n");
    for (size_t i = 0; i < n; i++) {
        const size_t units = units_for(&cases[i], MILLION);
        uint32_t *sim = run(dev[0], &cases[i], units), *gpu = run(dev[1], &cases[i], units);
        compare(&cases[i], sim, gpu, units);
        if (truth)
            fprintf(truth, "%s\t%016" PRIx64 "\n", cases[i].name, hash_of(&cases[i], gpu));
        free(sim);
        free(gpu);
    }
    if (truth)
        cr_assert(!fclose(truth));
    dev_close(dev[0]);
    dev_close(dev[1]);
}
