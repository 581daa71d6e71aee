// The ladder's table, for people. See ladder.h.
#include "ladder.h"

#include <string.h>

#include "base/occupancy.h"
#include "base/ptx_file.h"
#include "base/text.h"
#include "steps.h"
#include "tester/tester_report.h"

double ladder_predicted(const struct ladder *l, const struct row *row)
{
    const struct tester_options *o = &l->predicted;
    return row->predicted_ms > 0 ? 2e-9 * o->m * o->n * o->k / row->predicted_ms : 0;
}

void ladder_progress(const struct ladder *l, size_t i)
{
    if (!l->terminal)
        return;
    char text[128] = "";
    if (i < n_steps)
        snprintf(text, sizeof text, "running %s (%zu of %zu) ...", steps[i]->name, i + 1, n_steps);
    fprintf(l->out, "\r%-79.79s\r%s", "", text);  // blanks over what stood there
    fflush(l->out);
}

void ladder_print_head(const struct ladder *l)
{
    const struct dev_about *about = dev_about(l->dev);
    const char *baseline = dev_baseline_name(l->dev);
    fprintf(l->out, "Device: %s%s", about->name,
            about->simulated && !strstr(about->name, "simulated") ? ", simulated" : "");
    report_detail(l->out, about);
    char compiler[PTX_COMPILER];
    if (n_steps && *ptx_file_compiler(l->steps[0].ptx, compiler))
        fprintf(l->out, "Kernels: compiled by %s\n", compiler);
    fprintf(l->out, "C = %g * A * B + %g * C, M %d, N %d, K %d", l->o.alpha, l->o.beta, l->o.m, l->o.n, l->o.k);
    if (l->o.predict)
        fprintf(l->out, "\npredicted: TFLOP/s on the %s, M %d, N %d, K %d", card_meant(l->o.card)->name, l->predicted.m,
                l->predicted.n, l->predicted.k);
    if (about->simulated && l->o.predict) {
        fprintf(l->out, "\n\n%-24s %-4s  %-9s  %9s  %11s   %s\n", "", "", "", "", "", "for 1,000 multiply-adds");
        fprintf(l->out, "%-24s %-4s  %-9s  %9s  %11s  %8s  %8s  %10s  %13s\n", "step", "type", "result", "predicted",
                "step before", "inst", "sectors", "wavefronts", "conflicts");
    } else if (about->simulated) {
        const int wide = l->timed ? 11 : 0;
        if (l->o.iterations)
            fprintf(l->out, "; time: median of %d runs", l->o.iterations);
        fprintf(l->out, "\n\n%-24s %-4s  %-9s%*s   %s\n", "", "", "", wide, "", "for 1,000 multiply-adds");
        fprintf(l->out, "%-24s %-4s  %-9s%*s  %8s  %8s  %10s  %13s\n", "step", "type", "result", wide,
                l->timed ? "time" : "", "inst", "sectors", "wavefronts", "conflicts");
    } else {
        fprintf(l->out, "; median of %d runs, L2 cache %s\n\n", l->o.iterations,
                l->o.warm ? "as the run before left it" : "emptied before each");
        fprintf(l->out, "%-24s %-4s  %-9s  %9s  %9s  %11s  %9s%s\n", "step", "type", "result", "time", "TFLOP/s",
                "step before", baseline ? "of cuBLAS" : "", l->o.predict ? "  predicted" : "");
    }
}

// TFLOP/s with about three digits.
static const char *rate(double gflops, char text[32])
{
    double tflops = gflops / 1000;
    snprintf(text, 32, "%.*f", tflops >= 9.995 ? 1 : tflops >= 0.0995 ? 2 : 5, tflops);
    return text;
}

void ladder_print_part(const struct ladder *l, size_t i)
{
    if (i == 0)
        return;
    const struct step *s = &l->steps[i], *before = &l->steps[i - 1];
    const bool halves = s->type == DEV_F16, hopper = ptx_file_alone(s->ptx) == 90;
    if (halves != (before->type == DEV_F16))
        fprintf(l->out, "from here on A, B and C are %s:\n",
                halves ? "halves, multiplied by tensor cores and summed in float" : "no halves");
    if (hopper != (ptx_file_alone(before->ptx) == 90))
        fprintf(l->out, "from here on the kernels %s:\n",
                hopper ? "use what Hopper alone has" : "are not for Hopper alone");
}

// What the simulated GPU has counted, for 1,000 multiply-adds.
static void print_counts(const struct ladder *l, const uint64_t *m)
{
    const double per = 1000 / ((double)l->o.m * l->o.n * l->o.k);
    char conflicts[TEXT_GROUPED];
    fprintf(l->out, "  %8.1f  %8.1f  %10.1f  %13s", (double)m[METRIC_INST] * per,
            (double)(m[METRIC_GLD_SEC] + m[METRIC_GST_SEC]) * per, (double)m[METRIC_WAVE] * per,
            text_grouped(m[METRIC_SLD_CONF] + m[METRIC_SST_CONF], conflicts));
}

// How fast a GPU was: the rate, beside the step before and the baseline.
static void print_speed(const struct ladder *l, const struct row *row)
{
    const struct tester_result *r = &row->result;
    char before[32] = "-", baseline[32] = "", tflops[32];
    if (row->before_ms > 0)
        snprintf(before, sizeof before, "x %.2f", row->before_ms / r->ms);
    if (r->baseline_ms > 0)
        snprintf(baseline, sizeof baseline, "%.1f %%", 100 * r->baseline_ms / r->ms);
    fprintf(l->out, "  %9s  %11s  %9s", rate(r->gflops, tflops), before, baseline);
}

static void print_prediction(const struct ladder *l, const struct row *row, bool beside_before)
{
    char predicted[32] = "-", before[32] = "-";
    if (row->predicted_ms > 0)
        rate(1000 * ladder_predicted(l, row), predicted);
    if (row->predicted_before > 0 && row->predicted_ms > 0)
        snprintf(before, sizeof before, "x %.2f", row->predicted_before / row->predicted_ms);
    fprintf(l->out, "  %9s", predicted);
    if (beside_before)
        fprintf(l->out, "  %11s", before);
}

void ladder_print_row(const struct ladder *l, const struct row *row)
{
    char time[REPORT_TIME];
    fprintf(l->out, "%-24s %-4s  ", row->step->name, type_name(row->step->type));
    if (row->needs)
        fprintf(l->out, "needs sm_%u\n", row->needs);
    else if (!row->ran)
        fputs("FAILED\n", l->out);
    if (!row->ran)
        return;
    fprintf(l->out, "%-9s", report_verdict(row->result.verdict));
    if (row->counted && l->o.predict)
        print_prediction(l, row, true);
    else if (l->timed)
        fprintf(l->out, "  %9s", report_time(row->result.ms, time));
    if (row->counted)
        print_counts(l, row->metrics);
    else
        print_speed(l, row);
    if (!row->counted && l->o.predict)
        print_prediction(l, row, false);
    fputc('\n', l->out);
}

// Is row i the first that has no predicted time for this reason?
static bool is_new_reason(const struct ladder *l, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (!strcmp(l->rows[k].predict_error, l->rows[i].predict_error))
            return false;
    return true;
}

static void print_baselines(const struct ladder *l)
{
    const char *name = dev_baseline_name(l->dev);
    const double flops = 2.0 * l->o.m * l->o.n * l->o.k;
    char time[REPORT_TIME], tflops[32];
    for (int i = 0; name && i < TYPES; i++) {
        if (l->baseline_ms[i] > 0) {
            fprintf(l->out, "%-24s %-4s  %-9s  %9s  %9s", name, type_name((enum dev_type)i), "",
                    report_time(l->baseline_ms[i], time), rate(flops / l->baseline_ms[i] * 1e-6, tflops));
            if (l->after_ms[i] > 0)
                fprintf(l->out, "  and %s at the end (%+.1f %%)", rate(flops / l->after_ms[i] * 1e-6, tflops),
                        100 * (l->baseline_ms[i] / l->after_ms[i] - 1));
            fputc('\n', l->out);
        } else if (l->baseline_error[i][0])
            fprintf(l->out, "%-24s %-4s  %s\n", name, type_name((enum dev_type)i), l->baseline_error[i]);
    }
}

// Why row i has no predicted time, with all that have none for the same reason.
static void print_reason(const struct ladder *l, size_t i)
{
    const char *why = l->rows[i].predict_error;
    fprintf(l->out, "No time is predicted for %s", l->rows[i].step->name);
    for (size_t k = i + 1; k < n_steps; k++)
        if (!strcmp(l->rows[k].predict_error, why))
            fprintf(l->out, ", %s", l->rows[k].step->name);
    fprintf(l->out, ":\n%s\n", why);
}

// What went wrong, row by row, with an empty line before the first.
static void print_failures(const struct ladder *l)
{
    bool first = true;
    for (size_t i = 0; i < n_steps; i++) {
        const struct row *row = &l->rows[i];
        const bool unpredicted = row->ran && row->predict_error[0] && is_new_reason(l, i);
        const bool failed = !row->needs && (!row->ran || row->result.verdict == TESTER_WRONG);
        if (first && (unpredicted || failed))
            fputc('\n', l->out);
        first = first && !unpredicted && !failed;
        if (unpredicted)
            print_reason(l, i);
        if (failed)
            fprintf(l->out, "%s (%s): %s\n", row->step->name, type_name(row->step->type),
                    row->ran ? row->result.what : row->error);
    }
}

void ladder_print_foot(const struct ladder *l)
{
    const struct dev_about *about = dev_about(l->dev);
    bool too_old = false;
    print_baselines(l);
    if (about->simulated)
        fprintf(l->out,
                "\ninst: warp instructions; sectors: 32-byte pieces of global memory; wavefronts: passes through "
                "shared\nmemory; conflicts: wavefronts that bank conflicts cost, in all.%s\n",
                l->o.predict || !l->timed ? "" : " The time is the simulation's.");
    if (l->no_prediction[0])
        fprintf(l->out, "\nNo times are predicted: %s.\n", l->no_prediction);
    print_failures(l);
    for (size_t i = 0; i < n_steps; i++)
        too_old |= l->rows[i].needs;
    if (too_old)
        fprintf(l->out, "\n%s is an sm_%d%d: --device=sim runs the steps that need more on the simulated GPU.\n",
                about->name, about->cc_major, about->cc_minor);
}
