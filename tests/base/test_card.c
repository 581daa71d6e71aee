// The table of cards. Here it has a row more than card.def, for a card that is not there: more_cards.def. Nothing else
// knows of it. CARDS_CSV is the table that the chapters read.
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/steps.h"
#include "base/occupancy.h"
#include "base/options.h"
#include "compiler.h"
#include "file_text.h"
#include "tester/predict.h"

#define MADE_UP "Two H200"

Test(card, is_known_in_any_spelling)
{
    cr_expect_eq(card_named("rtx4090"), card_named("RTX 4090"));
    cr_expect_not_null(card_named("h200"));
    cr_expect_null(card_named("H20"));
    cr_expect_null(card_named("H2000"));
    cr_expect_null(card_named(""));
    cr_expect_eq(card_meant(NULL), card_named("H200"));
    cr_expect_eq(card_meant(card_named("T4")), card_named("T4"));
}

Test(card, is_a_device_by_its_name_and_its_sms)
{
    static const struct {
        const char *device, *card;
        unsigned sms;
    } cases[] = {
        { "NVIDIA H200", "H200", 132 },
        { "NVIDIA H100 80GB HBM3", "H100", 132 },
        { "NVIDIA A100-SXM4-80GB", "A100", 108 },
        { "NVIDIA GeForce RTX 5090", "RTX 5090", 170 },
        { "Tesla T4", "T4", 40 },
        { "NVIDIA GeForce RTX 4090 Laptop GPU", NULL, 76 },
        { "NVIDIA A100-SXM4-40GB", NULL, 108 },  // the same chip, another memory
        { "NVIDIA GH200 480GB", NULL, 132 },
        { "NVIDIA H200", NULL, 131 },
        { "", NULL, 132 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct card *want = cases[i].card ? card_named(cases[i].card) : NULL;
        cr_expect_eq(card_of_device(cases[i].device, cases[i].sms), want, "%s", cases[i].device);
    }
}

// The vendor's peaks, in TFLOP/s, at the clock that goes with each.
Test(card, has_the_speeds_that_the_vendor_states)
{
    static const struct {
        const char *card;
        double ghz, f32, f64, tensor_ghz, tensor;
    } cases[] = {
        { "H200", 1.98, 66.9, 33.5, 1.83, 989.4 },     { "H100", 1.98, 66.9, 33.5, 1.83, 989.4 },
        { "A100", 1.41, 19.5, 9.7, 1.41, 312 },        { "RTX 5090", 2.407, 104.8, 1.64, 2.407, 209.5 },
        { "RTX 4090", 2.52, 82.6, 1.29, 2.52, 165.2 }, { "RTX 3090", 1.695, 35.6, 0.556, 1.695, 71 },
        { "T4", 1.59, 8.1, 0.254, 1.59, 65 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct card *c = card_named(cases[i].card);
        const double ghz = c->sms * cases[i].ghz / 1000;
        cr_expect_float_eq(2 * c->f32 * ghz, cases[i].f32, 0.01 * cases[i].f32, "%s", c->name);
        cr_expect_float_eq(2 * c->f64 * ghz, cases[i].f64, 0.01 * cases[i].f64, "%s", c->name);
        cr_expect_float_eq(c->tensor * c->sms * cases[i].tensor_ghz / 1000, cases[i].tensor, 0.01 * cases[i].tensor,
                           "%s", c->name);
    }
}

Test(card, that_is_unknown_is_refused_with_those_that_are_known)
{
    struct ask {
        const struct card *card;
    } ask;
    const struct option_row rows[] = { { "card", "NAME", "", OPTION_AT(struct ask, card) }, { 0 } };
    const struct options table = { .rows = rows };
    char *words[] = { "program", "--card", "H2O\n", NULL }, **argv = words, error[DEV_ERROR_MAX];
    int argc = 3;
    cr_expect_eq(options_read(&table, &ask, &argc, &argv, error), OPTIONS_BAD);
    char want[DEV_ERROR_MAX];
    int n = snprintf(want, sizeof want, "--card \"H2O?\": must be one of ");
    for (unsigned i = 0; card_at(i); i++)
        n += snprintf(want + n, sizeof want - (size_t)n, "%s%s", i ? ", " : "", card_at(i)->name);
    cr_expect_str_eq(error, want);
    cr_expect(strstr(error, "one of H200, H100, ") && strstr(error, ", T4, " MADE_UP), "%s", error);
    words[2] = "two h200";
    argc = 3, argv = words;
    cr_expect_eq(options_read(&table, &ask, &argc, &argv, error), OPTIONS_RUN);
    cr_expect_str_eq(ask.card->name, MADE_UP);
}

// A number that a row leaves out is 0. A card's constants are those of a card that was measured.
Test(card, has_all_numbers)
{
    for (unsigned i = 0; card_at(i); i++) {
        const struct card *c = card_at(i), *of = card_named(c->measured);
        cr_expect(c->device && c->source && of && !strcmp(of->measured, of->name), "%s", c->name);
        cr_expect(c->cc && c->sms && c->threads && c->blocks && c->registers && c->shared_kib && c->block_kib &&
                      c->shared_unit && c->l1_kib > c->shared_kib && c->dram_gb && c->dram && c->pcie && c->f32 &&
                      c->f64 && c->tensor,
                  "%s", c->name);
        cr_expect(c->ghz > 0 && c->l2_mb >= c->l2_kept_mb && c->l2_kept_mb > 0 && c->mma_interval > 0 &&
                      c->tflops_f32 > 0 && c->tflops_f16 > 0,
                  "%s", c->name);
        unsigned k = 0;
        while (c->carve_outs[k] < c->shared_kib && c->carve_outs[k + 1] > c->carve_outs[k])
            k++;
        cr_expect_eq(c->carve_outs[k], c->shared_kib, "%s: the carve-outs end with %u KiB", c->name, c->carve_outs[k]);
    }
}

// With CARDS_TO=FILE it writes that file.
Test(card, is_in_the_table_of_the_chapters)
{
    char *text = NULL, *made_up;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    cr_assert(out);
    card_write(out);
    fclose(out);
    cr_assert(made_up = strstr(text, "\n" MADE_UP ","));
    made_up[1] = '\0';
    const char *to = getenv("CARDS_TO");
    FILE *file = to ? fopen(to, "w") : NULL;
    cr_assert(!to || (file && fputs(text, file) >= 0 && !fclose(file)), "%s", to);
    cr_expect_str_eq(text, file_text(to ? to : CARDS_CSV));
    free(text);
}

// --- the card that is not there ---

Test(card, that_a_row_adds_has_an_occupancy)
{
    const struct card *made_up = card_named(MADE_UP), *h200 = card_named("H200");
    const struct occupancy o = occupancy_of(made_up, 256, 128, 8320), of_h200 = occupancy_of(h200, 256, 128, 8320);
    cr_expect_eq(o.blocks, of_h200.blocks);
    cr_expect_eq(occupancy_of(made_up, 256, 32, 150000).blocks, 1);
    cr_expect_eq(card_of_device("NVIDIA Two H200", 264), made_up);
}

// Twice the SMs, with twice the memory behind them, take half as long for a product of many blocks.
Test(card, that_a_row_adds_is_predicted)
{
    NEEDS_NVCC("ptxas may be missing");
    struct tester_options o = tester_defaults;
    char error[DEV_ERROR_MAX];
    size_t i = 0;
    while (i < n_steps && strcmp(steps[i]->name, "06_warp_tile"))
        i++;
    cr_assert(i < n_steps);
    o.m = o.n = o.k = 4096;
    struct simt_prediction *one = predict_step(steps[i], &o, card_named("H200"), error);
    cr_assert(one, "%s", error);
    struct simt_prediction *two = predict_step(steps[i], &o, card_named(MADE_UP), error);
    cr_assert(two, "%s", error);
    const double half = simt_predicted_cycles(two), all = simt_predicted_cycles(one);
    cr_expect(fabs(all / half - 2) < 0.1, "%.4g cycles, and %.4g", all, half);
    simt_prediction_free(one);
    simt_prediction_free(two);
}

Test(card, of_an_unknown_capability_is_refused)
{
    struct card c = *card_at(0);
    struct tester_options o = tester_defaults;
    char error[DEV_ERROR_MAX];
    o.m = o.n = o.k = 256;
    for (c.cc = 61; c.cc <= 130; c.cc += 69) {
        cr_expect(!predict_step(steps[0], &o, &c, error));
        cr_expect(strstr(error, ": the clock knows the machine code of 7.5 to 12.0"), "%s", error);
    }
}
