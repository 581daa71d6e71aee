// The ladder's table, for programs: JSON and CSV. See ladder.h.
#include "ladder.h"

#include <time.h>

#include "base/json.h"
#include "base/occupancy.h"
#include "steps.h"
#include "tester/tester_report.h"

static void json_row(struct json *j, const struct ladder *l, const struct row *row)
{
    json_object(j, NULL);
    json_string(j, "step", row->step->name);
    json_string(j, "type", type_name(row->step->type));
    if (row->ran) {
        report_json_result(j, &l->o, &row->result);
        if (row->counted)
            profile_json_metrics(j, row->metrics);
        if (row->predicted_ms > 0) {
            json_double(j, "predicted_tflops", ladder_predicted(l, row));
            json_double(j, "predicted_cycles", row->predicted_cycles);
            json_double(j, "predicted_ms", row->predicted_ms);
        }
    } else {
        json_string(j, "verdict", "failed");
        json_string(j, "what", row->error);
    }
    json_end(j);
}

bool ladder_write_json(const struct ladder *l, FILE *out)
{
    struct json j;
    const char *name = dev_baseline_name(l->dev);
    json_open(&j, out);
    json_object(&j, NULL);
    json_string(&j, "device", dev_about(l->dev)->name);
    report_json_setting(&j, l->dev, &l->o);
    if (n_steps)
        report_json_compiler(&j, l->steps[0].ptx);
    if (l->o.predict) {
        json_object(&j, "predicted");
        json_string(&j, "card", card_meant(l->o.card)->name);
        json_int(&j, "m", l->predicted.m);
        json_int(&j, "n", l->predicted.n);
        json_int(&j, "k", l->predicted.k);
        json_end(&j);
    }
    json_array(&j, "steps");
    for (size_t i = 0; i < n_steps; i++)
        json_row(&j, l, &l->rows[i]);
    json_end(&j);
    json_array(&j, "baselines");
    for (int i = 0; i < TYPES; i++) {
        if (!name || l->baseline_ms[i] <= 0)
            continue;
        json_object(&j, NULL);
        json_string(&j, "name", name);
        json_string(&j, "type", type_name((enum dev_type)i));
        json_double(&j, "ms", l->baseline_ms[i]);
        if (l->after_ms[i] > 0)
            json_double(&j, "ms_after", l->after_ms[i]);
        json_end(&j);
    }
    json_end(&j);
    json_end(&j);
    return json_close(&j);
}

// The rate of so many milliseconds; an empty field where they are not known.
static void print_rate(FILE *out, double tflop, double ms)
{
    fprintf(out, ",");
    if (ms > 0)
        fprintf(out, "%.6g", tflop / ms);
}

bool ladder_write_csv(const struct ladder *l)
{
    const struct dev_about *about = dev_about(l->dev);
    const char *name = dev_baseline_name(l->dev);
    char date[16];
    time_t now = time(NULL);
    struct tm utc;
    FILE *out = fopen(l->o.csv, "a");
    if (!out)
        return false;
    gmtime_r(&now, &utc);
    strftime(date, sizeof date, "%Y-%m-%d", &utc);
    if (ftell(out) == 0)
        fprintf(out, "date,device,detail,baseline,l2,runs,m,n,k,step,type,ms,ms_min,ms_max,tflops,baseline_tflops,"
                     "baseline_after_tflops\n");
    for (size_t i = 0; i < n_steps; i++) {
        const struct row *row = &l->rows[i];
        const enum dev_type type = row->step->type;
        const double tflop = 2e-9 * l->o.m * l->o.n * l->o.k;
        if (!row->ran)
            continue;
        fprintf(out, "%s,\"%s\",\"%s\",\"%s\",%s,%d,%d,%d,%d,%s,%s,%.7g,%.7g,%.7g,%.6g", date, about->name,
                about->detail, name ? name : "", l->o.warm ? "warm" : "emptied", l->o.iterations, l->o.m, l->o.n,
                l->o.k, row->step->name, type_name(type), row->result.ms, row->result.ms_min, row->result.ms_max,
                tflop / row->result.ms);
        print_rate(out, tflop, row->result.baseline_ms);
        print_rate(out, tflop, l->after_ms[type]);
        fprintf(out, "\n");
    }
    return fclose(out) == 0;
}
