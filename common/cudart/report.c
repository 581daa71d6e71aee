// What the launches of the program did: a row for those of one kernel with the same shape from the same place, printed
// to stderr when the program ends, and written as JSON if the environment asks for it. If times are asked for, copies
// and sets have rows, too: one for those of one kind from the same place.
#include <stdlib.h>
#include <string.h>

#include "base/host.h"
#include "base/json.h"
#include "base/text.h"
#include "cudart.h"

struct row {
    struct row *next;
    char *kernel;
    struct cudart_frames frames;
    unsigned grid[3], block[3];
    size_t shared;
    uint64_t launches, metric[METRIC_COUNT];
    double ms;          // of those that can be predicted
    uint64_t unknown;   // launches that cannot
    const char *bound;  // of the last one, or why it cannot
};

struct moves {
    struct moves *next;
    enum cudart_way way;
    struct cudart_frames frames;
    uint64_t n, bytes;
    double ms;
};

static struct row *rows, **end = &rows;
static struct moves *moves, **moves_end = &moves;
static uint64_t n_launches;
static double ms_so_far;

static void print_all(void);

// --- A launch has ended ---

static struct row *find(const struct cudart_launch *l)
{
    struct row *r = rows;
    while (r && (strcmp(r->kernel, l->name) || memcmp(r->grid, l->how->grid, sizeof r->grid) ||
                 memcmp(r->block, l->how->block, sizeof r->block) || r->shared != l->how->shared ||
                 !cudart_same_frames(&r->frames, &l->frames)))
        r = r->next;
    return r;
}

static struct row *add(const struct cudart_launch *l)
{
    struct row *r = calloc(1, sizeof *r);
    char *name = strdup(l->name);
    if (!r || !name) {
        free(r);
        free(name);
        return NULL;
    }
    *r = (struct row){ .kernel = name, .frames = l->frames, .shared = l->how->shared };
    memcpy(r->grid, l->how->grid, sizeof r->grid);
    memcpy(r->block, l->how->block, sizeof r->block);
    return r;
}

void cudart_report(const struct cudart_launch *l, const struct profile *p, double ms, const char *bound)
{
    struct row *r = find(l);
    cudart_at_end(print_all);
    if (!r && (r = add(l))) {
        *end = r;
        end = &r->next;
    }
    if (!r)
        return;
    n_launches++;
    r->launches++;
    for (unsigned m = 0; p && m < METRIC_COUNT; m++)
        r->metric[m] += p->total[m];
    r->bound = bound;
    r->unknown += ms < 0;
    r->ms += ms < 0 ? 0 : ms;
    ms_so_far += ms < 0 ? 0 : ms;
}

// --- A copy or a set has been done ---

static const struct {
    const char *what, *speed;
    bool bus;        // it takes the card's bus, else its memory
    unsigned times;  // that each byte does
} ways[] = {
    [CUDART_TO_DEVICE] = { "copied to the device", "of PCIe", true, 1 },
    [CUDART_FROM_DEVICE] = { "copied from the device", "of PCIe", true, 1 },
    [CUDART_IN_DEVICE] = { "copied within the device", "of its memory, which is read and written", false, 2 },
    [CUDART_SET] = { "set", "of the device's memory", false, 1 },
};

static unsigned gb_per_second(enum cudart_way way)
{
    return ways[way].bus ? cudart_card()->pcie : cudart_card()->dram;
}

static struct moves *moves_of(enum cudart_way way, const struct cudart_frames *f)
{
    struct moves *m = moves;
    while (m && (m->way != way || !cudart_same_frames(&m->frames, f)))
        m = m->next;
    if (!m && (m = calloc(1, sizeof *m))) {
        *m = (struct moves){ .way = way, .frames = *f };
        *moves_end = m;
        moves_end = &m->next;
    }
    return m;
}

void cudart_moved(enum cudart_way way, uint64_t bytes)
{
    struct cudart_frames f;
    if (!cudart_times())
        return;
    cudart_frames(&f);
    const double ms = (double)bytes * ways[way].times / (gb_per_second(way) * 1e6);
    struct moves *m = moves_of(way, &f);
    cudart_at_end(print_all);
    ms_so_far += ms;
    if (m) {
        m->n++;
        m->bytes += bytes;
        m->ms += ms;
    }
}

double cudart_time(void)
{
    return cudart_times() ? ms_so_far : 1e3 * host_seconds();
}

// --- The table ---

static void print_ratio(uint64_t a, uint64_t b)
{
    if (b)
        fprintf(stderr, " %8.2f", (double)a / (double)b);
    else
        fprintf(stderr, " %8s", "-");
}

static void print_counters(const uint64_t *m)
{
    char text[TEXT_GROUPED];
    fprintf(stderr, " %15s", text_grouped(m[METRIC_INST], text));
    print_ratio(m[METRIC_GLD_SEC], m[METRIC_GLD_REQ]);
    print_ratio(m[METRIC_GST_SEC], m[METRIC_GST_REQ]);
    fprintf(stderr, " %13s",
            text_grouped(m[METRIC_SLD_CONF] + m[METRIC_SST_CONF] + m[METRIC_LDSM_CONF] + m[METRIC_STSM_CONF] +
                             m[METRIC_LDGSTS_CONF],
                         text));
}

static void print_three(const unsigned n[3])
{
    fprintf(stderr, "%u", n[0]);
    for (unsigned i = 1; i < 3 && (n[1] > 1 || n[2] > 1); i++)
        if (i == 1 || n[2] > 1)
            fprintf(stderr, ",%u", n[i]);
}

static void print_row(const struct row *r, bool counters, bool times)
{
    const char *place = cudart_place(&r->frames, r->kernel);
    fprintf(stderr, "%8llu", (unsigned long long)r->launches);
    if (counters)
        print_counters(r->metric);
    if (times && r->unknown < r->launches)
        fprintf(stderr, " %12.2f", r->ms * 1e3);
    else if (times)
        fprintf(stderr, " %12s", "?");
    fprintf(stderr, "  %s, grid ", r->kernel);
    print_three(r->grid);
    fputs(", block ", stderr);
    print_three(r->block);
    fprintf(stderr, "%s%s\n", *place ? ", launched at " : "", place);
    if (times)
        fprintf(stderr, "%8s %s%s\n", "", r->unknown == r->launches ? "no time is predicted: " : "", r->bound);
}

static void print_head(bool counters, bool times)
{
    fprintf(stderr, "cudart: %llu launches%s%s\n", (unsigned long long)n_launches,
            times ? ", as the clock predicts them for a card of type " : "", times ? cudart_card()->name : "");
    if (counters)
        fprintf(stderr, "%8s %15s %17s %13s\n", "", "warp", "sectors a request", "bank");
    fprintf(stderr, "%8s", "launches");
    if (counters)
        fprintf(stderr, " %15s %8s %8s %13s", "instructions", "load", "store", "conflicts");
    if (times)
        fprintf(stderr, " %12s", "microseconds");
    fputs("  kernel\n", stderr);
}

static void print_moves(void)
{
    char text[TEXT_GROUPED];
    fprintf(stderr, "%8s %12s\n", "copies", "microseconds");
    for (const struct moves *m = moves; m; m = m->next) {
        const char *place = cudart_place(&m->frames, NULL);
        fprintf(stderr, "%8llu %12.2f  %s bytes %s", (unsigned long long)m->n, m->ms * 1e3,
                text_grouped(m->bytes, text), ways[m->way].what);
        fprintf(stderr, "%s%s: %u GB/s %s\n", *place ? " at " : "", place, gb_per_second(m->way), ways[m->way].speed);
    }
}

static void json_three(struct json *j, const char *key, const unsigned n[3])
{
    json_array(j, key);
    for (unsigned i = 0; i < 3; i++)
        json_uint(j, NULL, n[i]);
    json_end(j);
}

static void json_row(struct json *j, const struct row *r, bool counters, bool times)
{
    json_object(j, NULL);
    json_string(j, "kernel", r->kernel);
    json_string(j, "launched_at", cudart_place(&r->frames, r->kernel));
    json_three(j, "grid", r->grid);
    json_three(j, "block", r->block);
    json_uint(j, "shared", r->shared);
    json_uint(j, "launches", r->launches);
    if (counters)
        profile_json_metrics(j, r->metric);
    if (times) {
        json_double(j, "predicted_ms", r->ms);
        json_uint(j, "not_predicted", r->unknown);
        json_string(j, "bound", r->bound);
    }
    json_end(j);
}

static void json_moves(struct json *j, const struct moves *m)
{
    json_object(j, NULL);
    json_string(j, "what", ways[m->way].what);
    json_string(j, "at", cudart_place(&m->frames, NULL));
    json_uint(j, "copies", m->n);
    json_uint(j, "bytes", m->bytes);
    json_double(j, "predicted_ms", m->ms);
    json_end(j);
}

static void write_json(const char *path, bool counters, bool times)
{
    struct json j;
    FILE *f = strcmp(path, "-") ? fopen(path, "w") : stdout;
    if (!f) {
        fprintf(stderr, "cudart: %s cannot be written\n", path);
        return;
    }
    json_open(&j, f);
    json_object(&j, NULL);
    json_string(&j, "device", SIMT_DEVICE);
    json_string(&j, "card", cudart_card()->name);
    json_array(&j, "launches");
    for (const struct row *r = rows; r; r = r->next)
        json_row(&j, r, counters, times);
    json_end(&j);
    if (times) {
        json_array(&j, "copies");
        for (const struct moves *m = moves; m; m = m->next)
            json_moves(&j, m);
        json_end(&j);
    }
    json_end(&j);
    json_close(&j);
    if (f != stdout)
        fclose(f);
}

static void print_all(void)
{
    const bool counters = cudart_setting("CUDART_PROFILE"), times = cudart_times();
    const char *json = getenv("CUDART_JSON");
    fflush(stdout);
    print_head(counters, times);
    for (const struct row *r = rows; r; r = r->next)
        print_row(r, counters, times);
    if (moves)
        print_moves();
    if (json)
        write_json(json, counters, times);
}
