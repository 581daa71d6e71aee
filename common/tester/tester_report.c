// Pieces of reports that the drivers and the ladder share.
#include "tester_report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/host.h"
#include "base/source.h"
#include "base/profile.h"
#include "base/ptx_file.h"
#include "meaning.h"

const char *report_verdict(enum tester_verdict verdict)
{
    static const char *const names[] = {
        [TESTER_WRONG] = "WRONG",
        [TESTER_RIGHT] = "right",
        [TESTER_UNCHECKED] = "unchecked",
    };
    return names[verdict];
}

const char *report_time(double ms, char text[REPORT_TIME])
{
    const char *unit = ms < 0.9995 ? "us" : ms < 999.5 ? "ms" : "s";
    double value = ms < 0.9995 ? ms * 1000 : ms < 999.5 ? ms : ms / 1000;
    snprintf(text, REPORT_TIME, "%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, unit);
    return text;
}

void report_look(FILE *out, const struct tester_result *r)
{
    char text[80];
    for (int i = 0; i < TESTER_LOOK && r->look[i]; i++) {
        source_text(r->source, r->look[i], text, sizeof text);
        if (text[0])
            fprintf(out, "    %s:%-4u %s\n", source_base_name(r->source), r->look[i], text);
    }
}

void report_detail(FILE *out, const struct dev_about *about)
{
    if (about->detail[0])
        fprintf(out, " (%s)", about->detail);
    fprintf(out, "\n");
}

// --- What takes long ---

// Multiply-adds that a processor simulates in a second, at least and at most: of all steps, on machines of today. The
// checks take as long again.
#define RATE_LEAST 2e8
#define RATE_MOST 2e9
#define LONG_RUN 5e10  // multiply-adds: a minute or so

// In the unit that suits it.
static double in_units(double seconds, const char **unit)
{
    *unit = seconds < 120 ? "s" : seconds < 7200 ? "minutes" : "hours";
    return seconds < 120 ? seconds : seconds < 7200 ? seconds / 60 : seconds / 3600;
}

void report_long_run(FILE *out, const char *who, const struct dev_about *about, const struct tester_options *o,
                     size_t steps)
{
    const double launches = (double)steps * (1 + (o->iterations ? o->warmup + o->iterations : 0));
    const double work = (double)o->m * o->n * o->k * launches;
    const double rate = (o->jobs ? o->jobs : (double)host_processors()) / (o->sanitize ? 2 : 1);
    const char *short_unit, *long_unit;
    if (!about->simulated || work < LONG_RUN)
        return;
    const double least = in_units(work / (RATE_MOST * rate), &short_unit);
    const double most = in_units(work / (RATE_LEAST * rate), &long_unit);
    const bool same = !strcmp(short_unit, long_unit);
    fprintf(out,
            "%s: note: %.2g multiply-adds on the simulated GPU take %.0f%s%s to %.0f %s here; --size 512 takes "
            "seconds\n",
            who, work, least, same ? "" : " ", same ? "" : short_unit, most, long_unit);
}

// --- JSON ---

void report_json_counters(struct json *j, struct dev *d, const struct tester_options *settled)
{
    const struct profile *p = dev_profile(d);
    const struct simt_advice advice = meaning_advice(settled);
    if (p) {
        profile_json(j, p, dev_about(d)->name);
        simt_findings_json(j, dev_findings(d), &advice);
    } else {
        json_string(j, "kernel", "gemm");
        json_string(j, "device", dev_about(d)->name);
    }
}

void report_json_setting(struct json *j, const struct dev *d, const struct tester_options *settled)
{
    const struct dev_about *about = dev_about(d);
    char date[32];
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    json_string(j, "detail", about->detail);
    json_bool(j, "simulated", about->simulated);
    json_string(j, "date", date);
    json_int(j, "m", settled->m);
    json_int(j, "n", settled->n);
    json_int(j, "k", settled->k);
    json_double(j, "alpha", settled->alpha);
    json_double(j, "beta", settled->beta);
    json_uint(j, "seed", settled->seed);
    json_int(j, "warmup", settled->warmup);
    json_int(j, "iterations", settled->iterations);
}

void report_json_changed(struct json *j, const struct tester_result *r)
{
    char line[TESTER_CHANGED];
    if (!*r->changed)
        return;
    json_array(j, "changed");
    for (const char *p = r->changed; *p; p += strcspn(p, "\n") + 1) {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(p, "\n"), p);
        json_string(j, NULL, line);
    }
    json_end(j);
}

void report_json_verdict(struct json *j, const struct tester_result *r)
{
    static const char *const names[] = {
        [TESTER_WRONG] = "wrong",
        [TESTER_RIGHT] = "right",
        [TESTER_UNCHECKED] = "unchecked",
    };
    json_string(j, "verdict", names[r->verdict]);
    json_string(j, "what", r->what);
    if (r->look[0]) {
        json_string(j, "source", r->source);
        json_array(j, "look");
        for (int i = 0; i < TESTER_LOOK && r->look[i]; i++)
            json_uint(j, NULL, r->look[i]);
        json_end(j);
    }
    report_json_changed(j, r);
}

void report_json_result(struct json *j, const struct tester_options *settled, const struct tester_result *r)
{
    report_json_verdict(j, r);
    if (r->verdict != TESTER_UNCHECKED)
        json_double(j, "worst", r->worst);
    json_double(j, "ms", r->ms);
    json_double(j, "ms_min", r->ms_min);
    json_double(j, "ms_max", r->ms_max);
    json_double(j, "multiply_adds", (double)settled->m * settled->n * settled->k);
    if (r->gflops > 0)
        json_double(j, "gflops", r->gflops);
    if (r->baseline_ms > 0)
        json_double(j, "baseline_ms", r->baseline_ms);
}

void report_json_compiler(struct json *j, const char *ptx)
{
    char compiler[PTX_COMPILER];
    if (*ptx_file_compiler(ptx, compiler))
        json_string(j, "compiler", compiler);
}

bool report_write_error(const char *option, const char *name, char error[DEV_ERROR_MAX])
{
    snprintf(error, DEV_ERROR_MAX, "%s \"%.200s\": cannot write it: %s", option, name, strerror(errno));
    return false;
}
