// See command.h. The options are one table, which getopt_long and --help are made from.
#include "command.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"

struct row {
    const char *name, *value;  // value: what --help calls it; NULL where the option takes none
    bool (*take)(struct command *c, struct launch *l, const struct row *row, const char *value);
    const char *help;
};

static bool dimensions(const char *text, unsigned out[3])
{
    char copy[64], *save = NULL;
    int n = 0;
    if (strlen(text) >= sizeof copy)
        return false;
    strcpy(copy, text);
    out[0] = out[1] = out[2] = 1;
    for (char *part = strtok_r(copy, ",", &save); part; part = strtok_r(NULL, ",", &save)) {
        uint64_t v;
        if (n == 3 || !options_whole(part, 1, INT32_MAX, &v))
            return false;
        out[n++] = (unsigned)v;
    }
    return n > 0;
}

#define TAKE(name) static bool name(struct command *c, struct launch *l, const struct row *row, const char *value)
#define UNUSED (void)c, (void)l, (void)row, (void)value

TAKE(take_grid)
{
    UNUSED;
    return dimensions(value, l->grid);
}

TAKE(take_block)
{
    UNUSED;
    return dimensions(value, l->block);
}

TAKE(take_cluster)
{
    UNUSED;
    return dimensions(value, l->cluster);
}

TAKE(take_shared)
{
    UNUSED;
    return options_whole(value, 0, INT32_MAX, &l->shared);
}

TAKE(take_jobs)
{
    UNUSED;
    return options_whole(value, 1, SIMT_JOBS_MAX, &c->jobs);
}

TAKE(take_sm)
{
    UNUSED;
    return options_whole(value, 80, 90, &c->sm) && (c->sm == 80 || c->sm == 90);
}

TAKE(take_budget)
{
    UNUSED;
    return options_whole(value, 1, UINT64_MAX, &c->budget);
}

// WHAT=VALUE
static bool take_pair(struct requests *list, const char *value)
{
    const char *equals = strchr(value, '=');
    struct request *q = &list->all[list->n];
    if (list->n == MAX_REQUESTS || !equals || !equals[1] || equals == value ||
        (size_t)(equals - value) >= sizeof q->what)
        return false;
    snprintf(q->what, sizeof q->what, "%.*s", (int)(equals - value), value);
    q->value = equals + 1;
    list->n++;
    return true;
}

TAKE(take_set)
{
    UNUSED;
    return take_pair(&c->sets, value);
}

TAKE(take_dump)
{
    UNUSED;
    return take_pair(&c->dumps, value);
}

// WHAT, or WHAT[FROM:TO]
TAKE(take_show)
{
    UNUSED;
    struct request *q = &c->shows.all[c->shows.n];
    const size_t n = strlen(value), name = strcspn(value, "[");
    if (c->shows.n == MAX_REQUESTS || !name || name >= sizeof q->what)
        return false;
    *q = (struct request){ .to = SIZE_MAX };
    snprintf(q->what, sizeof q->what, "%.*s", (int)name, value);
    c->shows.n++;
    if (!value[name])
        return true;
    char range[64], *colon;
    uint64_t from, to;
    if (value[n - 1] != ']' || n - name >= sizeof range)
        return false;
    snprintf(range, sizeof range, "%.*s", (int)(n - name - 2), value + name + 1);
    colon = strchr(range, ':');
    if (!colon)
        return false;
    *colon = '\0';
    if (!options_whole(range, 0, SIZE_MAX / 2, &from) || !options_whole(colon + 1, from, SIZE_MAX / 2, &to))
        return false;
    q->from = (size_t)from;
    q->to = (size_t)to;
    return true;
}

TAKE(take_by_line)
{
    UNUSED;
    return c->by_line = true;
}

TAKE(take_card)
{
    UNUSED;
    return (c->card = card_named(value));
}

TAKE(take_json)
{
    UNUSED;
    c->json = value;
    return true;
}

TAKE(take_draw)
{
    UNUSED;
    return draw_option(&c->draw, row->name, value);
}

TAKE(take_help)
{
    UNUSED;
    return c->help = true;
}

static const struct row rows[] = {
    { "grid", "X,Y,Z", take_grid, "blocks (missing numbers are 1; default 1)" },
    { "block", "X,Y,Z", take_block, "threads of a block (default 1)" },
    { "cluster", "X,Y,Z", take_cluster,
      "blocks of a cluster (sm_90): they run together and reach each other's shared memory; where the\n"
      "kernel says a size itself, that is the default" },
    { "shared", "BYTES", take_shared, "dynamic shared memory of a block" },
    { "set", "NAME=ARG", take_set,
      "what a __constant__ or __device__ variable holds before the first launch; TYPE[COUNT]=...\n"
      "is the content of an array" },
    { "dump", "WHAT=FILE", take_dump,
      "write an array (its name, or its argument's number in the first launch, from 0) or a variable\n"
      "to FILE afterwards" },
    { "show", "WHAT[FROM:TO]", take_show,
      "with run: print these elements of an array or a variable (all where no [FROM:TO] is given),\n"
      "in place of the first 8 of every array; may be given several times" },
    { "jobs", "N", take_jobs, "host threads (default: one a processor); results do not depend on it" },
    { "sm", "80|90", take_sm, "whose tensor cores: they differ in how many bits of a sum they keep (default 90)" },
    { "budget", "N", take_budget, "warp instructions after which a block counts as endless" },
    { "by-line", NULL, take_by_line, "with profile: the hottest source lines" },
    { "card", "NAME", take_card,
      "with profile: whose occupancy to work out (default H200; RTX4090, ...),\n"
      "and predict how long the launch takes on it; with draw: see --timeline" },
    { "json", "FILE", take_json,
      "with profile and check: write counters and findings as JSON (- for standard output);\n"
      "an array where there are several launches" },
    { "line", "N", take_draw,
      "with draw: the instruction of source line N, or of a call there; FILE:N for other files" },
    { "nth", "I", take_draw, "with draw: the line's I-th instruction that the warp runs (from 0, the default)" },
    { "warp", "W", take_draw, "with draw: of that warp of a block (default 0)" },
    { "block-index", "X,Y,Z", take_draw, "with draw: of that block (default 0,0,0)" },
    { "global", NULL, take_draw, "with draw: global memory also where the line touches shared memory" },
    { "tiles", NULL, take_draw,
      "with draw: which block, warp (--warp) and lane computes which element of C; for a kernel whose\n"
      "parameters are M, N, K and A, B, C in this order, whatever else is between them; of another\n"
      "kernel the first array that it stores to, in rows of 32 elements" },
    { "walk", NULL, take_draw,
      "with draw: which parts of A and B a block (--block-index) reads, step by step along K" },
    { "timeline", NULL, take_draw,
      "with draw: what each warp of a block does between barriers, in the order of its instructions;\n"
      "with --card, --cycles, --trips, --outer or --warps: in cycles, as the clock predicts it for the\n"
      "card (default H200): what each warp issues or waits for, and how busy the pipes are" },
    { "cycles", "FROM-TO", take_draw, "with --timeline: these cycles of the SM" },
    { "trips", "N", take_draw, "with --timeline: N trips of the kernel's loop, in the middle of a block (default 2)" },
    { "outer", NULL, take_draw, "with --timeline: of the outermost loop" },
    { "warps", "A-B", take_draw,
      "with --timeline: these warps of the SM, block by block (default: all, or those of one block)" },
    { "bits", NULL, take_draw,
      "with draw: of the tile that the access of --line goes to: which bits of an element's row and\n"
      "column make which bits of its byte, and so its bank" },
    { "large", NULL, take_draw, "with draw: for slides, in large type; of an access the first phase or request" },
    { "out", "F.svg", take_draw, "with draw: where the picture goes (- for standard output)" },
    { "fragment", "a|b|c", take_draw, "with draw: that operand of mma or wmma" },
    { "shape", "SHAPE", take_draw, "with --fragment: m16n8k16 (the default), m16n8k8, ..., or wmma" },
    { "type", "TYPE", take_draw, "with --fragment: f16 (the default; of c f32), bf16, tf32, f64, s8, u8, f32, s32" },
    { "help", NULL, take_help, "this text" },
};
#define ROWS (sizeof rows / sizeof *rows)

static const char help_begin[] =
    "usage: simt inspect FILE.ptx\n"
    "       simt run     FILE.ptx KERNEL --grid X,Y,Z --block X,Y,Z [options] [ARG...] [-- KERNEL ...]\n"
    "       simt profile FILE.ptx KERNEL --grid X,Y,Z --block X,Y,Z [options] [ARG...] [-- KERNEL ...]\n"
    "       simt check   FILE.ptx KERNEL --grid X,Y,Z --block X,Y,Z [options] [ARG...] [-- KERNEL ...]\n"
    "       simt draw    FILE.ptx KERNEL --grid X,Y,Z --block X,Y,Z --line N --out F.svg [options] [ARG...]\n"
    "       simt draw    FILE.ptx KERNEL --grid X,Y,Z --block X,Y,Z --tiles|--walk|--timeline --out F.svg [options] "
    "[ARG...]\n"
    "       simt draw    FILE.ptx KERNEL --grid X,Y,Z --block X,Y,Z --timeline --card NAME --out F.svg [options] "
    "[ARG...]\n"
    "       simt draw    FILE.ptx KERNEL --grid X,Y,Z --block X,Y,Z --bits --line N --out F.svg [options] [ARG...]\n"
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
    "KERNEL: its name in the PTX or in the source (scale, ns::scale<float>), or any part that only one kernel has.\n"
    "Behind -- stands the next kernel to launch, on the same memory. It has its own arguments; --grid, --block,\n"
    "--cluster and --shared are those of the launch before unless they are given again.\n"
    "\n";

static const char help_end[] =
    "\n"
    "ARG:\n"
    "  TYPE:NUMBER           i32:7, f32:1.5\n"
    "  TYPE[COUNT]=CONTENT   an array in device memory; the kernel gets its address: f32[1024]=normal:1\n"
    "  NAME=TYPE[COUNT]=...  the same with a name; later, NAME alone is that array again\n"
    "  struct:{ARG,ARG,...}  a struct by value: its fields, aligned as in C\n"
    "  TYPE:{N,N,...}        an array within a struct, or alone; f32x4:{...} and f32x2:{...} are aligned as float4\n"
    "                        and float2 are\n"
    "  bytes:HEX             a parameter of any type, byte by byte\n"
    "  map:TYPE[ROWS,COLS]box[ROWS,COLS]swizzle128=CONTENT\n"
    "                        a tensor map (CUtensorMap) of a new array of that shape, copied in such boxes; 1 to 5\n"
    "                        dimensions; swizzle64, swizzle32 or nothing; NAME in place of TYPE, without =CONTENT, is\n"
    "                        that array\n"
    "TYPE     i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64\n"
    "CONTENT  normal:SEED  uniform:SEED  iota  zeros  ones  NUMBER  {N,N,...}  uninit  @file.bin\n"
    "         uniform is 0 to 1; integers get 0 to 99, or normal values times 10. With [FROM:TO] behind it, only\n"
    "         these elements are initialised; a list initialises the first ones.\n"
    "A number must have the type that the PTX states: its size, and integer or floating point. Put arguments with\n"
    "brackets or braces into quotes, or the shell takes them apart.\n"
    "\n"
    "exit status: 0 done, 1 the kernel made an error or the checks found something, 2 it could not be run\n";

void command_help(FILE *out)
{
    fputs(help_begin, out);
    for (size_t i = 0; i < ROWS; i++) {
        char left[40];
        snprintf(left, sizeof left, "--%s %s", rows[i].name, rows[i].value ? rows[i].value : "");
        fprintf(out, "  %-20s ", left);
        for (const char *c = rows[i].help; *c; c++) {
            fputc(*c, out);
            if (*c == '\n')
                fprintf(out, "%23s", "");
        }
        fputc('\n', out);
    }
    fputs(help_end, out);
}

static bool fail(char error[DEV_ERROR_MAX], const char *format, const char *a, const char *b)
{
    snprintf(error, DEV_ERROR_MAX, format, a, b);
    return false;
}

// The options of one launch; what is left of argv stands at its end, from *rest on.
static bool parse_options(struct command *c, struct launch *l, int argc, char **argv, int *rest,
                          char error[DEV_ERROR_MAX])
{
    struct option options[ROWS + 1] = { 0 };
    for (size_t i = 0; i < ROWS; i++)
        options[i] = (struct option){ rows[i].name, rows[i].value ? required_argument : no_argument, NULL, 1 };
    opterr = 0;
    optind = 0;
    for (int o, which = 0; (o = getopt_long(argc, argv, "", options, &which)) != -1;) {
        if (o != 1)
            return fail(error, "unknown option, or one without its value: '%.200s' (see simt --help)%s",
                        argv[optind - 1], "");
        if (rows[which].take(c, l, &rows[which], optarg))
            continue;
        if (rows[which].take == take_card)
            return options_card(optarg, &c->card, error);
        char option[64];
        snprintf(option, sizeof option, "%s %s", rows[which].name, rows[which].value ? rows[which].value : "");
        return fail(error, "'%.200s' is no value for --%s (see simt --help)", optarg ? optarg : "", option);
    }
    *rest = optind;
    return true;
}

static bool parse_launch(struct command *c, int argc, char **argv, char error[DEV_ERROR_MAX])
{
    int i = 1;
    if (c->n_launches == MAX_LAUNCHES)
        return fail(error, "too many launches%s%s", "", "");
    const bool first = c->n_launches == 0;
    struct launch *l = &c->launches[c->n_launches++];
    if (first) {
        for (int k = 0; k < 3; k++)
            l->grid[k] = l->block[k] = 1;
    } else {
        memcpy(l->grid, l[-1].grid, sizeof l->grid);
        memcpy(l->block, l[-1].block, sizeof l->block);
        memcpy(l->cluster, l[-1].cluster, sizeof l->cluster);
        l->shared = l[-1].shared;
    }
    if (!parse_options(c, l, argc, argv, &i, error))
        return false;
    for (; i < argc; i++) {
        char place[64];
        if (first && !c->file) {
            c->file = argv[i];
        } else if (!l->name) {
            l->name = argv[i];
        } else if (l->n_args == MAX_ARGS) {
            return fail(error, "too many arguments%s%s", "", "");
        } else {
            snprintf(place, sizeof place, first ? "argument %zu" : "argument %zu of launch %zu", l->n_args,
                     c->n_launches);
            if (!arg_parse(argv[i], place, &c->buffers, &l->args[l->n_args++], error))
                return false;
        }
    }
    return true;
}

static enum verb verb_named(const char *word)
{
    static const char *const verbs[] = { "", "inspect", "run", "profile", "check", "draw" };
    for (int i = 1; i < 6; i++)
        if (!strcmp(word, verbs[i]))
            return (enum verb)i;
    return VERB_NONE;
}

// What does not go together; NULL where all is well.
static const char *contradiction(const struct command *c)
{
    const bool inspecting = c->verb == VERB_INSPECT, drawing = c->verb == VERB_DRAW;
    const char *kernel = c->launches[0].name;
    if (!drawing && c->draw.given)
        return "--line, --out, --fragment and their like go with draw";
    if (drawing && c->n_launches > 1)
        return "draw takes one launch";
    if (drawing && c->launches[0].cluster[0] &&
        (c->draw.in_cycles || (c->draw.place.view == SIMT_DRAW_TIMELINE && c->card)))
        return "the clock knows no clusters: --timeline without --card";
    if (!c->file)
        return "which PTX file? (see simt --help)";
    for (size_t i = 1; i < c->n_launches; i++)
        if (!c->launches[i].name)
            return "which kernel is to run next, behind --?";
    if (inspecting && (kernel || c->n_launches > 1))
        return "inspect takes one PTX file";
    if (c->verb != VERB_PROFILE && (c->by_line || (c->json && c->verb != VERB_CHECK)))
        return "--json goes with profile and check, --by-line with profile";
    if (c->verb != VERB_RUN && c->shows.n)
        return "--show goes with run";
    return NULL;
}

bool command_parse(struct command *c, int argc, char **argv, char error[DEV_ERROR_MAX])
{
    c->verb = argc > 1 ? verb_named(argv[1]) : VERB_NONE;
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--help"))
            return c->help = true;
    if (c->verb == VERB_NONE)
        return fail(error, "expected a command: inspect, run, profile, check or draw (see simt --help)%s%s", "", "");
    for (int from = 1, to; from < argc;
         from = to) {  // argv[from] is the verb, or the "--": where a name of a program stands
        for (to = from + 1; to < argc && strcmp(argv[to], "--"); to++)
            ;
        char *kept = to < argc ? argv[to] : NULL;
        argv[to] = NULL;
        const bool ok = parse_launch(c, to - from, argv + from, error);
        argv[to] = kept;
        if (!ok)
            return false;
    }
    if (c->verb == VERB_DRAW && !draw_ready(&c->draw, c->file, error))
        return false;
    if (c->verb == VERB_DRAW && c->draw.fragment.operand)
        return true;
    const char *wrong = contradiction(c);
    return !wrong || fail(error, "%s%s", wrong, "");
}

void command_free(struct command *c)
{
    for (size_t i = 0; i < c->n_launches; i++)
        for (size_t k = 0; k < c->launches[i].n_args; k++)
            arg_free(&c->launches[i].args[k]);
    buffers_free(&c->buffers);
}

int command_unable(const char *message)
{
    fprintf(stderr, "simt: %s\n", message);
    return EXIT_UNABLE;
}
