// What the book's labs call: a step or a variant of it, run and checked by the tester that its driver uses, and
// pictures of what it did. It is compiled to WebAssembly for the page, and for this machine by the test that compares
// the two.
//
// Texts are valid until the next call that returns one. A picture is NULL on failure, and lab_error() has the reason.
#include "lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "device/open.h"
#include "inside.h"
#include "launch.h"
#include "simt/simt.h"
#include "tester/tester.h"
#include "tester/tester_report.h"

#ifdef __EMSCRIPTEN__
#include <emscripten.h>
EM_JS(void, show_progress, (double done, double blocks), {
    if (Module.onBlocks)
        Module.onBlocks(done, blocks);
});
#else
static void show_progress(double done, double blocks)
{
    (void)done;
    (void)blocks;
}
#endif

enum { PATH = 256 };

#define COURSE "course.cu"  // the course's text of the kernel, if the page has written one

static struct lab {
    struct dev *dev;
    struct tester *tester;
    char ptx[PATH];
    struct step step;
    struct tester_options options;
    struct launch launch;  // of lab_launch, in place of the tester
    struct gemm call;      // of lab_call
    bool called;
    bool ran;
    unsigned char *map;
    char *text, error[DEV_ERROR_MAX];
} lab;

static void progress(uint64_t done, uint64_t blocks)
{
    show_progress((double)done, (double)blocks);
}

const char *lab_error(void)
{
    return lab.error;
}

char *lab_error_room(void)
{
    return lab.error;
}

bool lab_write(const char *path, const char *text, size_t bytes)
{
    FILE *out = fopen(path, "w");
    const bool ok = out && fwrite(text, 1, bytes, out) == bytes;
    return (out && fclose(out) == 0 && ok) || error_set(lab.error, "cannot write %s", path);
}

// --- a run ---

static void close_call(void)
{
    if (lab.called)
        gemm_close(&lab.call, lab.dev);
    lab.called = false;
}

static void forget(void)
{
    lab_watch_close();
    close_call();
    tester_close(lab.tester);
    lab.tester = NULL;
    dev_close(lab.dev);
    lab.dev = NULL;
    launch_close(&lab.launch);
    free(lab.map);
    lab.map = NULL;
    lab.ran = false;
}

static bool open_tester(const char *ptx, enum dev_type type, const struct tester_options *asked)
{
    forget();
    *lab.error = '\0';
    snprintf(lab.ptx, sizeof lab.ptx, "%s", ptx);
    lab.step = (struct step){ .name = "lab", .type = type, .ptx = lab.ptx };
    if (!(lab.dev = dev_open(DEV_SIM, lab.error)))
        return false;
    dev_set_jobs(lab.dev, 1);
    dev_set_checks(lab.dev, true);
    dev_set_progress(lab.dev, progress);
    lab.options = tester_settle(asked, dev_about(lab.dev));
    return (lab.tester = tester_open(lab.dev, type, &lab.options, lab.error));
}

// Which elements of a wrong C are wrong.
static void make_map(void)
{
    const struct tester_product p = tester_product(lab.tester);
    if ((lab.map = malloc((size_t)p.C->rows * (size_t)p.C->cols)))
        matrix_check_map(p.C, p.alpha, p.A, p.B, p.beta, p.C0, lab.map);
}

static void write_hash(struct json *j)
{
    const struct matrix *C = tester_product(lab.tester).C;
    const unsigned char *bytes = C->data;
    uint64_t hash = 0;
    char text[24];
    for (size_t i = 0; i < matrix_bytes(C); i++)
        hash = matrix_hash(hash, bytes[i]);
    snprintf(text, sizeof text, "%016llx", (unsigned long long)hash);
    json_string(j, "C", text);
}

static void write_run(struct json *j, const struct tester_result *r)
{
    report_json_counters(j, lab.dev, &lab.options);
    report_json_verdict(j, r);
    json_double(j, "worst", r->worst);
    write_hash(j);
}

// What ended the launch, as a finding, and what led to it.
static void write_failure(struct json *j, const struct tester_result *r)
{
    json_string(j, "verdict", "failed");
    json_string(j, "error", lab.error);
    json_string(j, "what", r->what);
    report_json_changed(j, r);
}

FILE *lab_text_begin(struct json *j)
{
    static size_t bytes;
    free(lab.text);
    lab.text = NULL;
    FILE *out = open_memstream(&lab.text, &bytes);
    if (out) {
        json_open(j, out);
        json_object(j, NULL);
    }
    return out;
}

const char *lab_text_end(struct json *j, FILE *out)
{
    json_end(j);
    json_close(j);
    fclose(out);
    return lab.text;
}

const char *lab_run(const char *ptx, int type, int m, int n, int k, double alpha, double beta)
{
    struct tester_options o = tester_defaults;
    struct tester_result r = { 0 };
    struct json j;
    o.m = m, o.n = n, o.k = k, o.alpha = alpha, o.beta = beta;
    o.jobs = 1;
    o.sanitize = o.once = true;
    o.course = access(COURSE, R_OK) ? NULL : COURSE;
    lab.ran = open_tester(ptx, (enum dev_type)type, &o) && tester_step(lab.tester, &lab.step, &r, lab.error);
    if (lab.ran && r.verdict == TESTER_WRONG)
        make_map();
    FILE *out = lab_text_begin(&j);
    if (!out)
        return NULL;
    if (lab.ran)
        write_run(&j, &r);
    else
        write_failure(&j, &r);
    return lab_text_end(&j, out);
}

const char *lab_launch(const char *ptx, const char *kernel, int number)
{
    struct json j;
    forget();
    *lab.error = '\0';
    lab.ran = launch_run(&lab.launch, ptx, kernel, number, lab.error);
    FILE *out = lab_text_begin(&j);
    if (!out)
        return NULL;
    json_string(&j, "verdict", lab.ran ? "ran" : "failed");
    if (lab.ran)
        launch_json(&j, &lab.launch);
    else
        json_string(&j, "error", lab.error);
    return lab_text_end(&j, out);
}

const unsigned char *lab_map(void)
{
    return lab.map;
}

// --- pictures of it ---

static struct simt_product product_of(const struct gemm *g, enum dev_type type)
{
    const uint64_t m = (uint64_t)g->m, n = (uint64_t)g->n, k = (uint64_t)g->k;
    const uint32_t bytes = (uint32_t)type_size(type);
    return (struct simt_product){ { "A", g->A, m, k, bytes }, { "B", g->B, k, n, bytes }, { "C", g->C, m, n, bytes } };
}

static bool call_tester(struct lab_call *out)
{
    bool go_on;
    if (!lab_watching()) {
        close_call();
        lab.called = true;  // gemm_close even if it cannot be opened
        if (!tester_open_call(lab.tester, &lab.step, &lab.call, lab.error))
            return false;
        if (!gemm_queue_copies(&lab.call, lab.dev, &go_on))
            return error_set(lab.error, "%s", dev_error(lab.dev));
    }
    *out = (struct lab_call){ device_simt(lab.dev), (struct simt_kernel *)lab.call.kernel, &lab.call.launch };
    return true;
}

bool lab_call(struct lab_call *out)
{
    if (!lab.ran)
        return error_set(lab.error, "nothing has been run");
    if (!lab.launch.kernel)
        return call_tester(out);
    *out = (struct lab_call){ lab.launch.simt, lab.launch.kernel, &lab.launch.launch };
    return true;
}

const char *lab_draw(int view, int line, int nth, int instruction, int execution, int warp, double block, bool global,
                     bool large)
{
    struct simt_picture what = { .view = (enum simt_view)view,
                                 .line = (unsigned)line,
                                 .nth = (uint64_t)nth,
                                 .exact = instruction >= 0,
                                 .instruction = (uint32_t)instruction,
                                 .execution = (uint64_t)execution,
                                 .warp = (uint64_t)warp,
                                 .global = global,
                                 .large = large };
    struct lab_call call = { 0 };
    free(lab.text);
    lab.text = NULL;
    if (!lab_call(&call))
        return NULL;
    const uint64_t x = call.launch->grid[0] ? call.launch->grid[0] : 1,
                   y = call.launch->grid[1] ? call.launch->grid[1] : 1, at = (uint64_t)block;
    const struct simt_product product = product_of(&lab.call, lab.step.type);
    what.block[0] = at % x;
    what.block[1] = at / x % y;
    what.block[2] = at / x / y;
    what.product = lab.launch.kernel ? NULL : &product;
    return lab.text = simt_draw(call.simt, call.kernel, call.launch, &what, lab.error);
}
