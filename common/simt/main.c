// The program `simt`: the simulated GPU for any PTX file.
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../json.h"
#include "../occupancy.h"
#include "../options.h"
#include "../ptx_file.h"
#include "args.h"
#include "draw_command.h"
#include "simt.h"

#define MAX_ARGS 64

enum { EXIT_CLEAN, EXIT_FAULT, EXIT_UNABLE };

static const char help[] =
    "usage: simt inspect FILE.ptx\n"
    "       simt run     FILE.ptx KERNEL --grid X,Y,Z --block X,Y,Z [options] [ARG...]\n"
    "       simt profile FILE.ptx KERNEL --grid X,Y,Z --block X,Y,Z [options] [ARG...]\n"
    "       simt check   FILE.ptx KERNEL --grid X,Y,Z --block X,Y,Z [options] [ARG...]\n"
    "       simt draw    FILE.ptx KERNEL --grid X,Y,Z --block X,Y,Z --line N --out F.svg [options] [ARG...]\n"
    "       simt draw    --fragment a|b|c [--shape SHAPE] [--type TYPE] --out F.svg\n"
    "\n"
    "  inspect   kernels, parameters, shared bytes and instructions of a PTX file\n"
    "  run       run a kernel and show what its arrays hold afterwards\n"
    "  profile   run a kernel and show its counters, under Nsight Compute's names\n"
    "  check     run a kernel and look for accesses out of bounds, uninitialised memory and registers, races and\n"
    "            missed barriers\n"
    "  draw      run a kernel and draw which lane touches which bank (or sector of global memory), as SVG;\n"
    "            with --fragment: which lane and register hold which element of a tensor core's operand\n"
    "\n"
    "  --grid X,Y,Z     blocks (missing numbers are 1; default 1)\n"
    "  --block X,Y,Z    threads of a block (default 1)\n"
    "  --shared BYTES   dynamic shared memory of a block\n"
    "  --jobs N         host threads (default: one a processor); results do not depend on it\n"
    "  --sm 80|90       whose tensor cores: they differ in how many bits of a sum they keep (default 90)\n"
    "  --budget N       warp instructions after which a block counts as endless\n"
    "  --dump I=FILE    write array argument I (from 0) to FILE afterwards\n"
    "  --by-line        with profile: the hottest source lines\n"
    "  --card NAME      with profile: whose occupancy to work out (default H200; RTX4090, ...)\n"
    "  --json FILE      with profile and check: write counters and findings as JSON (- for standard output)\n"
    "  --line N         with draw: the instruction of source line N, or of a call there; FILE:N for other files\n"
    "  --nth I          with draw: the line's I-th instruction that the warp runs (from 0, the default)\n"
    "  --warp W         with draw: of that warp of a block (default 0)\n"
    "  --block-index X,Y,Z  with draw: of that block (default 0,0,0)\n"
    "  --global         with draw: global memory also where the line touches shared memory\n"
    "  --large          with draw: for slides, in large type; of an access the first phase or request\n"
    "  --out F.svg      with draw: where the picture goes (- for standard output)\n"
    "  --fragment a|b|c with draw: that operand of mma or wmma; --shape m16n8k16 (the default), m16n8k8, ...,\n"
    "                   or wmma; --type f16 (the default; of c f32), bf16, tf32, f64, s8, u8, f32, s32\n"
    "  --help           this text\n"
    "\n"
    "ARG: TYPE:VALUE (i32:7, f32:1.5) or TYPE[COUNT]=CONTENT, an array in device memory (f32[1024]=normal:1)\n"
    "  TYPE     i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64\n"
    "  CONTENT  normal:SEED  uniform:SEED  iota  zeros  ones  uninit  @file.bin\n"
    "           uniform is 0 to 1; integers get 0 to 99, or normal values times 10\n"
    "\n"
    "exit status: 0 done, 1 the kernel made an error or the checks found something, 2 it could not be run\n";

struct command {
    const char *file, *kernel, *json;
    unsigned grid[3], block[3];
    uint64_t shared, jobs, budget, sm;
    bool profile, check, by_line, drawing;
    struct draw_command draw;
    const struct card *card;
    struct arg args[MAX_ARGS];
    size_t n_args;
    const char *dump[MAX_ARGS];
};

static int unable(const char *message)
{
    fprintf(stderr, "simt: %s\n", message);
    return EXIT_UNABLE;
}

static bool dimensions(const char *text, unsigned out[3])
{
    char copy[64], *save = NULL;
    int n = 0;
    if (strlen(text) >= sizeof copy)
        return false;
    strcpy(copy, text);
    for (char *part = strtok_r(copy, ",", &save); part; part = strtok_r(NULL, ",", &save)) {
        uint64_t v;
        if (n == 3 || !options_whole(part, 1, INT32_MAX, &v))
            return false;
        out[n++] = (unsigned)v;
    }
    return n > 0;
}

// --- inspect ---

struct tally {
    struct str op;
    uint32_t count;
};

static int by_count(const void *a, const void *b)
{
    const struct tally *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    uint32_t n = x->op.n < y->op.n ? x->op.n : y->op.n;
    int order = memcmp(x->op.p, y->op.p, n);
    return order ? order : (x->op.n > y->op.n) - (x->op.n < y->op.n);
}

static bool histogram(const struct ptx_func *f)
{
    struct tally *tallies = calloc(f->n_insts + 1, sizeof *tallies);
    size_t n = 0;
    if (!tallies)
        return false;
    for (uint32_t i = 0; i < f->n_insts; i++) {
        struct str op = f->insts[i].op;
        size_t k = 0;
        while (k < n && (tallies[k].op.n != op.n || memcmp(tallies[k].op.p, op.p, op.n)))
            k++;
        n += k == n;
        tallies[k].op = op;
        tallies[k].count++;
    }
    qsort(tallies, n, sizeof *tallies, by_count);
    for (size_t k = 0; k < n; k++)
        printf("  %6u  %.*s\n", tallies[k].count, (int)tallies[k].op.n, tallies[k].op.p);
    free(tallies);
    return true;
}

static int inspect(const struct simt_module *m)
{
    const struct ptx_module *p = m->ptx;
    int status = EXIT_CLEAN;
    printf("%s: PTX %.*s for %.*s, %u kernel%s\n", p->file, (int)p->version.n, p->version.p, (int)p->target.n,
           p->target.p, m->n_kernels, m->n_kernels == 1 ? "" : "s");
    for (uint32_t i = 0; i < m->n_kernels; i++) {
        const struct simt_kernel *k = &m->kernels[i];
        printf("\nkernel %s\n", k->name);
        for (uint32_t j = 0; j < k->func->n_params; j++) {
            const struct ptx_var *v = &p->vars[k->func->params[j]];
            if (v->bytes == ptx_type_bytes(v->type))
                printf("  parameter %u: .%s\n", j, ptx_type_name(v->type));
            else
                printf("  parameter %u: %" PRIu64 " bytes\n", j, v->bytes);
        }
        if (k->func->max_threads)
            printf("  launch bounds: %u threads a block\n", k->func->max_threads);
        if (k->code) {
            printf("  static shared memory: %u bytes a block; local memory: %u bytes a thread\n", k->code->shared_bytes,
                   k->code->local_bytes);
        } else {
            char caret[512];
            ptx_caret(p, k->error_at, caret, sizeof caret);
            printf("  cannot run here: %s\n%s", k->error, caret);
            status = EXIT_UNABLE;
        }
        printf("  %u instructions:\n", k->func->n_insts);
        if (!histogram(k->func))
            return unable("out of memory");
    }
    return status;
}

// --- run and profile ---

// Puts the arrays into device memory and the arguments into the kernel's parameters.
static bool place_args(struct simt *s, struct command *c, const struct simt_kernel *k, unsigned char **params,
                       char error[DEV_ERROR_MAX])
{
    struct dev_arg args[MAX_ARGS];
    for (size_t i = 0; i < c->n_args; i++) {
        struct arg *a = &c->args[i];
        args[i] = (struct dev_arg){ a->array ? (const void *)&a->address : a->data, a->array ? 8 : a->bytes };
        if (!a->array)
            continue;
        char name[32];
        snprintf(name, sizeof name, "argument %zu", i);
        a->address = a->bytes <= s->memory_limit ? memory_alloc(&s->memory, name, a->bytes) : 0;
        if (!a->address) {
            snprintf(error, DEV_ERROR_MAX, "argument %zu: %zu bytes do not fit in memory", i, a->bytes);
            return false;
        }
        unsigned char *data = memory_at(&s->memory, a->address, a->bytes);
        if (a->data) {
            memcpy(data, a->data, a->bytes);
            memory_write(&s->memory, a->address, a->bytes);
        } else {
            memset(data, 0xcb, a->bytes);  // uninit: the same odd bytes in every run
        }
    }
    *params = simt_pack(k, args, c->n_args, error);
    return *params != NULL;
}

static bool dump(const struct simt *s, const struct command *c, char error[DEV_ERROR_MAX])
{
    for (size_t i = 0; i < MAX_ARGS; i++) {
        if (!c->dump[i])
            continue;
        const struct arg *a = &c->args[i];
        FILE *f = fopen(c->dump[i], "wb");
        bool ok = f && fwrite(memory_at(&s->memory, a->address, a->bytes), 1, a->bytes, f) == a->bytes;
        if (f && fclose(f))
            ok = false;
        if (!ok) {
            snprintf(error, DEV_ERROR_MAX, "%.300s: %s", c->dump[i], strerror(errno));
            return false;
        }
    }
    return true;
}

static void show_arrays(const struct simt *s, const struct command *c)
{
    for (size_t i = 0; i < c->n_args; i++) {
        const struct arg *a = &c->args[i];
        if (!a->array)
            continue;
        const unsigned char *data = memory_at(&s->memory, a->address, a->bytes);
        printf("argument %zu, %s[%zu]:", i, arg_type_name(a), a->count);
        for (size_t e = 0; e < a->count && e < 8; e++)
            printf(" %.9g", arg_element(a, data, e));
        printf("%s\n", a->count > 8 ? " ..." : "");
    }
}

static bool write_json(FILE *json, const struct simt *s)
{
    struct json j;
    json_open(&j, json);
    json_object(&j, NULL);
    profile_json(&j, &s->profile, &s->findings, "simulated GPU");
    json_end(&j);
    return json_close(&j);
}

// What a launch that came to its end has to show; the exit status.
static int report(const struct simt *s, const struct command *c, FILE *json, char error[DEV_ERROR_MAX])
{
    const bool alone = json == stdout;
    if (c->check && !alone)
        findings_print(stdout, &s->findings);
    else if (c->profile && !alone) {
        profile_print(stdout, &s->profile);
        occupancy_print(stdout, &s->profile, c->file, c->card ? c->card : card_named("H200"));
    } else if (!alone)
        show_arrays(s, c);
    if (c->by_line && !alone)
        profile_print_lines(stdout, &s->profile, 20);
    if (json && !write_json(json, s)) {
        snprintf(error, DEV_ERROR_MAX, "%.300s: %s", c->json, strerror(errno));
        return EXIT_UNABLE;
    }
    return s->findings.n ? EXIT_FAULT : EXIT_CLEAN;
}

// Runs the kernel, and writes the picture.
static int draw(struct simt *s, struct simt_kernel *k, const struct command *c, const unsigned char *params,
                char error[DEV_ERROR_MAX])
{
    char *svg = draw_line(s, k, c->grid, c->block, c->shared, params, &c->draw.place, error);
    bool ok = svg && draw_write(&c->draw, svg, error);
    free(svg);
    return ok ? EXIT_CLEAN : s->faulted ? EXIT_FAULT : EXIT_UNABLE;
}

static int draw_only(const struct command *c)
{
    char error[DEV_ERROR_MAX];
    char *svg = draw_fragment(&c->draw.fragment, error);
    bool ok = svg && draw_write(&c->draw, svg, error);
    free(svg);
    return ok ? EXIT_CLEAN : unable(error);
}

static int run(struct simt *s, struct simt_module *m, struct command *c)
{
    char error[DEV_ERROR_MAX] = "";
    unsigned char *params = NULL;
    FILE *json = NULL;
    int status = EXIT_UNABLE;
    struct simt_kernel *k = simt_find(m, c->kernel);
    for (size_t i = 0; i < MAX_ARGS; i++)
        if (c->dump[i] && (i >= c->n_args || !c->args[i].array))
            snprintf(error, sizeof error, "--dump: argument %zu is not an array", i);
    if (*error)
        return unable(error);
    if (!k || !k->code) {
        snprintf(error, sizeof error, k ? "%s" : "there is no kernel '%.200s': see simt inspect",
                 k ? k->error : c->kernel);
    } else if (place_args(s, c, k, &params, error) && options_open_json(c->json, &json, error)) {
        if (c->drawing)
            status = draw(s, k, c, params, error);
        else if (simt_launch(s, k, c->grid, c->block, c->shared, params, error))
            status = dump(s, c, error) ? EXIT_CLEAN : EXIT_UNABLE;
        else
            status = s->faulted ? EXIT_FAULT : EXIT_UNABLE;
    }
    free(params);
    if (status == EXIT_CLEAN && !c->drawing)
        status = report(s, c, json, error);
    if (json && json != stdout)
        fclose(json);
    if (*error)
        fprintf(stderr, "simt: %s\n", error);
    return status;
}

static bool parse(int argc, char **argv, struct command *c, char error[DEV_ERROR_MAX])
{
    enum { GRID = 1000, BLOCK, SHARED, JOBS, SM, BUDGET, DUMP, BY_LINE, CARD, JSON, DRAW };
    static const struct option options[] = {
        { "grid", required_argument, NULL, GRID },
        { "block", required_argument, NULL, BLOCK },
        { "shared", required_argument, NULL, SHARED },
        { "jobs", required_argument, NULL, JOBS },
        { "sm", required_argument, NULL, SM },
        { "budget", required_argument, NULL, BUDGET },
        { "dump", required_argument, NULL, DUMP },
        { "by-line", no_argument, NULL, BY_LINE },
        { "json", required_argument, NULL, JSON },
        { "card", required_argument, NULL, CARD },
        { "line", required_argument, NULL, DRAW },
        { "nth", required_argument, NULL, DRAW },
        { "warp", required_argument, NULL, DRAW },
        { "block-index", required_argument, NULL, DRAW },
        { "global", no_argument, NULL, DRAW },
        { "large", no_argument, NULL, DRAW },
        { "out", required_argument, NULL, DRAW },
        { "fragment", required_argument, NULL, DRAW },
        { "shape", required_argument, NULL, DRAW },
        { "type", required_argument, NULL, DRAW },
        { 0 },
    };
    opterr = 0;
    for (int o, which = 0; (o = getopt_long(argc, argv, "", options, &which)) != -1;) {
        bool ok = true;
        uint64_t index = 0;
        char *equals;
        switch (o) {
        case GRID:
            ok = dimensions(optarg, c->grid);
            break;
        case BLOCK:
            ok = dimensions(optarg, c->block);
            break;
        case SHARED:
            ok = options_whole(optarg, 0, INT32_MAX, &c->shared);
            break;
        case JOBS:
            ok = options_whole(optarg, 1, 256, &c->jobs);
            break;
        case SM:
            ok = options_whole(optarg, 80, 90, &c->sm) && (c->sm == 80 || c->sm == 90);
            break;
        case BUDGET:
            ok = options_whole(optarg, 1, UINT64_MAX, &c->budget);
            break;
        case DUMP:
            equals = strchr(optarg, '=');
            ok = equals && equals[1];
            if (ok) {
                *equals = 0;
                ok = options_whole(optarg, 0, MAX_ARGS - 1, &index);
                c->dump[ok ? index : 0] = ok ? equals + 1 : NULL;
            }
            break;
        case BY_LINE:
            c->by_line = true;
            break;
        case CARD:
            ok = (c->card = card_named(optarg));
            break;
        case JSON:
            c->json = optarg;
            break;
        case DRAW:
            ok = draw_option(&c->draw, options[which].name, optarg);
            break;
        default:
            snprintf(error, DEV_ERROR_MAX, "unknown option, or one without its value: '%.200s' (see simt --help)",
                     argv[optind - 1]);
            return false;
        }
        if (!ok) {
            snprintf(error, DEV_ERROR_MAX, "'%.200s' is no value for --%s (see simt --help)", optarg,
                     options[which].name);
            return false;
        }
    }
    for (; optind < argc; optind++) {
        if (!c->file) {
            c->file = argv[optind];
        } else if (!c->kernel) {
            c->kernel = argv[optind];
        } else if (c->n_args == MAX_ARGS) {
            snprintf(error, DEV_ERROR_MAX, "too many arguments");
            return false;
        } else if (!arg_parse(argv[optind], &c->args[c->n_args++], error)) {
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    struct command c = { .grid = { 1, 1, 1 }, .block = { 1, 1, 1 } };
    char error[DEV_ERROR_MAX];
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help")) {
            fputs(help, stdout);
            return EXIT_CLEAN;
        }
    }
    const char *verb = argc > 1 ? argv[1] : "";
    bool inspecting = !strcmp(verb, "inspect");
    c.profile = !strcmp(verb, "profile");
    c.check = !strcmp(verb, "check");
    c.drawing = !strcmp(verb, "draw");
    if (!inspecting && !c.profile && !c.check && !c.drawing && strcmp(verb, "run"))
        return unable("expected a command: inspect, run, profile, check or draw (see simt --help)");
    int status = EXIT_UNABLE;
    struct simt *s = NULL;
    char *text = NULL;
    size_t bytes = 0;
    struct simt_module *m = NULL;
    if (!parse(argc - 1, argv + 1, &c, error))
        unable(error);
    else if (c.drawing && !draw_ready(&c.draw, c.file, c.kernel, error))
        unable(error);
    else if (c.drawing && c.draw.fragment.operand)
        status = draw_only(&c);
    else if (!c.drawing && c.draw.given)
        unable("--line, --out, --fragment and their like go with draw");
    else if (!c.file || (!inspecting && !c.kernel))
        unable(c.file ? "which kernel? (see simt inspect)" : "which PTX file? (see simt --help)");
    else if (inspecting && c.kernel)
        unable("inspect takes one PTX file");
    else if (!c.profile && (c.by_line || (c.json && !c.check)))
        unable("--json goes with profile and check, --by-line with profile");
    else if (!(text = ptx_file_read(c.file, &bytes, error)))
        unable(error);
    else if (!(s = simt_new()))
        unable("out of memory");
    else if (s->sm = c.sm ? (unsigned)c.sm : s->sm, !(m = simt_load(s, c.file, text, bytes, error)))
        unable(error);
    else {
        s->jobs = (unsigned)c.jobs;
        s->checks = c.check;
        s->budget = c.budget ? c.budget : s->budget;
        status = inspecting ? inspect(m) : run(s, m, &c);
    }
    free(text);
    for (size_t i = 0; i < c.n_args; i++)
        free(c.args[i].data);
    simt_free(s);
    return status;
}
