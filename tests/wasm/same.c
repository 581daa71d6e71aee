// Runs steps on the simulated GPU and prints all that they leave: a hash of C, the counters and the findings. It is
// built for this machine and as WebAssembly, and both have to print the same.
//
//   same [--time] M N K STEP.ptx...
//
// Each kernel is run without checks and with them, with alpha = 0.5 and beta = 2, on random matrices. A kernel's
// element type follows from its file: f64 if it is called ..._double.ptx, f16 if gemm names .f16, else f32. --time
// prints milliseconds of processor time instead: the least of several runs, without checks and with them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/matrix.h"
#include "base/ptx_file.h"
#include "device/open.h"
#include "simt/simt.h"
#include "tester/gemm.h"

enum { RUNS = 5 };

struct product {
    struct dev *dev;
    struct dev_module *module;
    enum dev_type type;
    struct geometry geometry;
    struct matrix A, B, C;
    struct gemm gemm;
    char error[DEV_ERROR_MAX];
};

static enum dev_type type_of(const char *path, const char *text)
{
    const char *gemm = strstr(text, ".entry gemm");
    if (strstr(path, "_double.ptx"))
        return DEV_F64;
    return gemm && strstr(gemm, ".f16") ? DEV_F16 : DEV_F32;
}

static bool load(struct product *p, const char *path)
{
    size_t bytes;
    char *text = ptx_file_read(path, &bytes, p->error);
    if (!text)
        return false;
    p->type = type_of(path, text);
    bool ok = geometry_parse(path, text, bytes, &p->geometry, p->error);
    if (ok && !(p->module = dev_load_text(p->dev, path, text, bytes)))
        ok = error_set(p->error, "%s", dev_error(p->dev));
    free(text);
    return ok;
}

// Numbers from -1/2 to 1/2 that need no function of the host's libm.
static void fill(struct matrix *m, uint64_t seed)
{
    for (int i = 0; i < m->rows; i++)
        for (int j = 0; j < m->cols; j++)
            matrix_set(m, i, j, (double)(matrix_hash(seed, (uint64_t)i << 32 | (uint64_t)j) >> 11) * 0x1p-53 - 0.5);
}

static bool place(struct product *p, struct matrix *m, const char *name, int rows, int cols, int seed, dev_ptr *at)
{
    *m = matrix_new(p->type, rows, cols);
    if (!m->data)
        return error_set(p->error, "out of memory");
    fill(m, (uint64_t)seed);
    return (dev_alloc(p->dev, name, matrix_bytes(m), at) && dev_upload(p->dev, *at, m->data, matrix_bytes(m))) ||
           error_set(p->error, "%s", dev_error(p->dev));
}

static bool run(struct product *p)
{
    return (gemm_queue(&p->gemm, p->dev) && dev_sync(p->dev) &&
            dev_download(p->dev, p->C.data, p->gemm.C, matrix_bytes(&p->C))) ||
           error_set(p->error, "%s", dev_error(p->dev));
}

static bool open_product(struct product *p, const char *path, const int size[3], bool checks)
{
    struct gemm *g = &p->gemm;
    dev_set_jobs(p->dev, 1);
    dev_set_checks(p->dev, checks);
    *g = (struct gemm){ .m = size[0], .n = size[1], .k = size[2], .alpha = 0.5, .beta = 2, .sms = 4 };
    return load(p, path) && place(p, &p->A, "A", g->m, g->k, 1, &g->A) && place(p, &p->B, "B", g->k, g->n, 2, &g->B) &&
           place(p, &p->C, "C", g->m, g->n, 3, &g->C) &&
           gemm_open(g, p->dev, p->module, p->geometry.kernel, p->type, &p->geometry, p->error);
}

static void close_product(struct product *p)
{
    gemm_close(&p->gemm, p->dev);
    dev_close(p->dev);
    matrix_free(&p->A);
    matrix_free(&p->B);
    matrix_free(&p->C);
}

static void print(const struct product *p)
{
    struct json j;
    uint64_t hash = 0;
    const unsigned char *bytes = p->C.data;
    for (size_t i = 0; i < matrix_bytes(&p->C); i++)
        hash = matrix_hash(hash, bytes[i]);
    printf("C %016llx\n", (unsigned long long)hash);
    json_open(&j, stdout);
    json_object(&j, NULL);
    profile_json(&j, dev_profile(p->dev), dev_about(p->dev)->name);
    simt_findings_json(&j, dev_findings(p->dev), NULL);
    json_end(&j);
    json_close(&j);
    printf("\n");
}

static bool least_ms(struct product *p, double *ms)
{
    for (int i = 0; i < RUNS; i++) {
        const clock_t from = clock();
        if (!run(p))
            return false;
        const double took = 1e3 * (double)(clock() - from) / CLOCKS_PER_SEC;
        *ms = i && *ms < took ? *ms : took;
    }
    return true;
}

static bool one(const char *path, const int size[3], bool checks, bool timed)
{
    struct product p = { 0 };
    double ms = 0;
    p.dev = dev_open(DEV_SIM, p.error);
    bool ok = p.dev && open_product(&p, path, size, checks);
    ok = ok && (timed ? least_ms(&p, &ms) : run(&p));
    if (!ok)
        fprintf(stderr, "%s: %s\n", path, p.error);
    else if (timed)
        printf(" %.2f", ms);
    else
        print(&p);
    if (p.dev)
        close_product(&p);
    return ok;
}

int main(int argc, char **argv)
{
    const bool timed = argc > 1 && !strcmp(argv[1], "--time");
    char **rest = argv + 1 + timed;
    int size[3];
    if (argc - timed < 5) {
        fprintf(stderr, "same [--time] M N K STEP.ptx...\n");
        return 2;
    }
    for (int i = 0; i < 3; i++)
        size[i] = atoi(rest[i]);
    for (rest += 3; *rest; rest++) {
        const char *name = strrchr(*rest, '/');
        printf(timed ? "%s" : "%s\n", name ? name + 1 : *rest);
        if (!one(*rest, size, false, timed) || !one(*rest, size, true, timed))
            return 1;
        printf(timed ? "\n" : "");
    }
    return 0;
}
