// How far elements come on their way to the products of a step that is right: all of them, from each matrix.
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "base/source.h"
#include "tester/flow.h"
#include "tester/kernel_text.h"

static const struct {
    const char *name;
    enum dev_type type;
    bool shared, opaque;
} steps[] = {
    { "01_naive", DEV_F32, false, false },        { "02_smem_tile", DEV_F32, true, false },
    { "07_double_buffer", DEV_F32, true, false }, { "08_wmma", DEV_F16, true, false },
    { "10_wmma_padding", DEV_F16, true, false },  { "12_mma_swizzle", DEV_F16, true, false },
    { "13_async_copy", DEV_F16, true, false },    { "14_tma", DEV_F16, true, false },
    { "16_warp_roles", DEV_F16, true, true },
};

static void try_step(const char *name, enum dev_type type, bool shared, bool opaque)
{
    char ptx[256], file[256], error[DEV_ERROR_MAX];
    struct geometry g;
    struct probe p;
    snprintf(ptx, sizeof ptx, STEPS_PTX "/%s/%s.ptx", name, name);
    snprintf(file, sizeof file, STEPS_FOLDER "/%s/kernel.cu", name);
    const struct step step = { .name = name, .type = type, .ptx = ptx };
    cr_assert(geometry_read(ptx, &g, error), "%s", error);
    cr_assert(probe_open(&p, &step, &g, true, 1));
    for (int i = 0; i < 4; i++) {
        const char matrix = i / 2 ? 'B' : 'A';
        struct flow f;
        const struct flow_of of = { matrix, i % 2, g.bm, g.bn, 80, 0 };
        cr_expect(flow_take(&f, &p, file, &of), "%s: %s", name, p.error);
        cr_expect_eq(f.shared, shared, "%s", name);
        cr_expect_eq(f.opaque, opaque, "%s", name);
        for (int stage = 0; stage < FLOW_STAGES; stage++)
            cr_expect_eq(f.line[stage] != 0, stage == FLOW_LOADED || (shared && (stage == FLOW_WRITTEN || !opaque)),
                         "%s: line %u of stage %d", name, f.line[stage], stage);
        for (int j = 0; j < f.n; j++)
            cr_expect_eq(flow_lost(&f, j), FLOW_STAGES, "%s: %s %d of %c", name, i % 2 ? "column" : "row", j, matrix);
        flow_free(&f);
    }
    probe_close(&p);
}

Test(flow, of_right_steps_all_elements_come_to_their_products)
{
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        try_step(steps[i].name, steps[i].type, steps[i].shared, steps[i].opaque);
}

// "half *Cs = As;" declares Cs, and gives As to it.
Test(flow, a_name_behind_an_equals_sign_is_not_declared_there)
{
    static const char file[] = STEPS_FOLDER "/15_wgmma/kernel.cu";
    struct kernel_unset unset[KERNEL_UNSET];
    unsigned lines = 0, of_products = 0;
    char text[256] = "";
    while (lines < 1000 && !of_products) {
        source_text(file, ++lines, text, sizeof text);
        of_products = strstr(text, "wgmma(acc, ") ? lines : 0;
    }
    cr_assert(of_products);
    cr_expect_eq(kernel_text_unset(file, of_products, unset), 1);
    cr_expect_str_eq(unset[0].name, "acc");
}
