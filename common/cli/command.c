// See command.h.
#include "command.h"

#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/text.h"

// WHAT=VALUE
static bool take_pair(void *requests, const char *value)
{
    struct requests *list = requests;
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

// WHAT, or WHAT[FROM:TO]
static bool take_show(void *requests, const char *value)
{
    struct requests *shows = requests;
    struct request *q = &shows->all[shows->n];
    const size_t n = strlen(value), name = strcspn(value, "[");
    char range[64];
    uint64_t v[3];
    if (shows->n == MAX_REQUESTS || !name || name >= sizeof q->what)
        return false;
    *q = (struct request){ .to = SIZE_MAX };
    snprintf(q->what, sizeof q->what, "%.*s", (int)name, value);
    shows->n++;
    if (!value[name])
        return true;
    snprintf(range, sizeof range, "%.*s", (int)(n - name - 2), value + name + 1);
    if (value[n - 1] != ']' || n - name >= sizeof range || options_numbers(range, ':', 0, SIZE_MAX / 2, v) != 2)
        return false;
    q->from = (size_t)v[0];
    q->to = (size_t)v[1];
    return v[0] <= v[1];
}

#define AT(field) OPTION_AT(struct command, field)
#define BY(function, field) OPTION_BY(function, struct command, field)
enum {
    PROFILE = 1 << VERB_PROFILE,
    CHECK = 1 << VERB_CHECK,
    RUN = 1 << VERB_RUN,
    DRAW = 1 << VERB_DRAW,
    WATCH = 1 << VERB_WATCH
};

static const char *const verbs[] = { "", "inspect", "run", "profile", "check", "draw", "watch" };
static const struct option_word cores[] = { { "80", 80 }, { "90", 90 }, { 0 } };

static const struct option_row rows[] = {
    { "grid", "X,Y,Z", "blocks (missing numbers are 1; default 1)", AT(next.grid), 1, INT32_MAX },
    { "block", "X,Y,Z", "threads of a block (default 1)", AT(next.block), 1, INT32_MAX },
    { "cluster", "X,Y,Z",
      "blocks of a cluster (sm_90): they run together and reach each other's shared memory; where the\n"
      "kernel says a size itself, that is the default",
      AT(next.cluster), 1, INT32_MAX },
    { "shared", "BYTES", "dynamic shared memory of a block", AT(next.shared), 0, INT32_MAX },
    { "set", "NAME=ARG",
      "what a __constant__ or __device__ variable holds before the first launch; TYPE[COUNT]=...\n"
      "is the content of an array",
      BY(take_pair, sets), .must = "NAME=ARG (at most 64 of them)" },
    { "dump", "WHAT=FILE",
      "write an array (its name, or its argument's number in the first launch, from 0) or a variable\n"
      "to FILE afterwards",
      BY(take_pair, dumps), .must = "WHAT=FILE (at most 64 of them)" },
    { "show", "WHAT[FROM:TO]",
      "with run: print these elements of an array or a variable (all where no [FROM:TO] is given),\n"
      "in place of the first 8 of every array; may be given several times",
      BY(take_show, shows), .must = "WHAT or WHAT[FROM:TO], FROM at most TO (at most 64 of them)", .only = RUN },
    { "jobs", "N", "host threads (default: one a processor); results do not depend on it", AT(jobs), 1, SIMT_JOBS_MAX },
    { "sm", "80|90", "whose tensor cores: they differ in how many bits of a sum they keep (default 90)", AT(sm),
      .words = cores },
    { "budget", "N", "warp instructions after which a block counts as endless", AT(budget), 1, UINT64_MAX },
    { "by-line", NULL, "with profile: the hottest source lines", AT(by_line), .only = PROFILE },
    { "card", "NAME",
      "with profile: whose occupancy to work out (default H200; RTX4090, ...),\n"
      "and predict how long the launch takes on it; with draw: see --timeline",
      AT(card) },
    { "json", "FILE",
      "with profile and check: write counters and findings as JSON (- for standard output);\n"
      "an array where there are several launches",
      AT(json), .only = PROFILE | CHECK },
    { "line", "N",
      "with draw: the instruction of source line N, or of a call there; FILE:N for other files;\n"
      "with watch: begin where the line is executed first",
      BY(draw_take_line, draw.place), .must = "N or FILE:N, N from 1 to 2147483647", .only = DRAW | WATCH },
    { "execution", "I", "with draw: the I-th time that the warp runs the instruction (from 0, the default)",
      AT(draw.place.execution), 0, INT32_MAX, .only = DRAW },
    { "nth", "I", "with draw: the line's I-th instruction that the warp runs (from 0, the default)", AT(draw.place.nth),
      0, INT32_MAX, .only = DRAW },
    { "warp", "W", "with draw and watch: of that warp of a block (default 0)", AT(draw.place.warp), 0, INT32_MAX,
      .only = DRAW | WATCH },
    { "block-index", "X,Y,Z", "with draw and watch: of that block (default 0,0,0)",
      BY(draw_take_block, draw.place.block), .must = "up to three whole numbers from 0 to 2147483647, as in 4,2,1",
      .only = DRAW | WATCH },
    { "finding", "N", "with watch: begin where finding N of simt check was made, from 1 on (default: the first)",
      AT(finding), 1, INT32_MAX, .only = WATCH },
    { "launch", "N", "with watch: the launch to watch, from 1 on (default: the last)", AT(launch), 1, MAX_LAUNCHES,
      .only = WATCH },
    { "global", NULL, "with draw: global memory also where the line touches shared memory", AT(draw.place.global),
      .only = DRAW },
    { "tiles", NULL,
      "with draw: which block, warp (--warp) and lane computes which element of C; for a kernel whose\n"
      "parameters are M, N, K and A, B, C in this order, whatever else is between them; of another\n"
      "kernel the first array that it stores to, in rows of 32 elements",
      AT(draw.views[SIMT_DRAW_TILES]), .only = DRAW },
    { "walk", NULL, "with draw: which parts of A and B a block (--block-index) reads, step by step along K",
      AT(draw.views[SIMT_DRAW_WALK]), .only = DRAW },
    { "timeline", NULL,
      "with draw: what each warp of a block does between barriers, in the order of its instructions;\n"
      "with --card, --cycles, --trips, --outer or --warps: in cycles, as the clock predicts it for the\n"
      "card (default H200): what each warp issues or waits for, and how busy the pipes are",
      AT(draw.views[SIMT_DRAW_TIMELINE]), .only = DRAW },
    { "cycles", "FROM-TO", "with --timeline: these cycles of the SM", BY(draw_take_cycles, draw.cycles),
      .must = "FROM-TO, at least one cycle and at most 100000", .only = DRAW },
    { "trips", "N", "with --timeline: N trips of the kernel's loop, in the middle of a block (default 2)",
      AT(draw.cycles.trips), 1, 1000, .only = DRAW },
    { "outer", NULL, "with --timeline: of the outermost loop", AT(draw.cycles.outer), .only = DRAW },
    { "warps", "A-B", "with --timeline: these warps of the SM, block by block (default: all, or those of one block)",
      BY(draw_take_warps, draw.cycles), .must = "A-B, A at most B, or one warp", .only = DRAW },
    { "bits", NULL,
      "with draw: of the tile that the access of --line goes to: which bits of an element's row and\n"
      "column make which bits of its byte, and so its bank",
      AT(draw.views[SIMT_DRAW_BITS]), .only = DRAW },
    { "large", NULL, "with draw: for slides, in large type; of an access the first phase or request", AT(draw.large),
      .only = DRAW },
    { "out", "F.svg", "with draw: where the picture goes (- for standard output)", AT(draw.out), .only = DRAW },
    { "fragment", "a|b|c", "with draw: that operand of mma or wmma", AT(draw.fragment.operand), .only = DRAW },
    { "shape", "SHAPE", "with --fragment: m16n8k16 (the default), m16n8k8, ..., or wmma", AT(draw.fragment.shape),
      .only = DRAW },
    { "type", "TYPE", "with --fragment: f16 (the default; of c f32), bf16, tf32, f64, s8, u8, f32, s32",
      AT(draw.fragment.type), .only = DRAW },
    { 0 },
};

static const char usage[] =
    "inspect FILE.ptx\n"
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
    "       simt watch   FILE.ptx KERNEL --grid X,Y,Z --block X,Y,Z [options] [ARG...] [-- KERNEL ...]\n"
    "       simt exec    [check|profile|time] [options] -- PROGRAM [ARGUMENTS]\n"
    "       simt nvcc    [nvcc's options] FILE.cu ... -o PROGRAM\n"
    "\n"
    "  inspect   kernels, parameters, shared bytes and instructions of a PTX file\n"
    "  run       run a kernel and show what its arrays hold afterwards\n"
    "  profile   run a kernel and show its counters, under Nsight Compute's names\n"
    "  check     run a kernel and look for accesses out of bounds, uninitialised memory and registers, races and\n"
    "            missed barriers\n"
    "  draw      run a kernel and draw which lane touches which bank (or sector of global memory), as SVG;\n"
    "            with --fragment: which lane and register hold which element of a tensor core's operand\n"
    "  watch     run a kernel step by step, forwards and backwards, and look at registers, memory and barriers; it\n"
    "            opens where the checks find something first, and says why warps wait for ever; help lists commands\n"
    "  exec      run a whole CUDA program; simt exec --help has its options\n"
    "  nvcc      compile one for it\n"
    "\n"
    "KERNEL: its name in the PTX or in the source (scale, ns::scale<float>), or any part that only one kernel has.\n"
    "Behind -- stands the next kernel to launch, on the same memory. It has its own arguments; --grid, --block,\n"
    "--cluster and --shared are those of the launch before unless they are given again.";

static const char notes[] =
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
    "exit status: 0 done, 1 the kernel made an error or the checks found something, 2 it could not be run";

static struct options options_of(enum verb verb)
{
    return (struct options){
        .program = "simt",
        .usage = usage,
        .notes = notes,
        .rows = rows,
        .use = verb ? 1u << verb : 0,
        .uses = verbs,
        .most = INT32_MAX,
    };
}

void command_help(FILE *out)
{
    const struct options all = options_of(VERB_NONE);
    options_help(&all, out);
}

static bool parse_launch(struct command *c, int argc, char **argv, char error[DEV_ERROR_MAX])
{
    const struct options table = options_of(c->verb);
    if (c->n_launches == MAX_LAUNCHES)
        return error_set(error, "more than %d launches", MAX_LAUNCHES);
    if (options_read(&table, c, &argc, &argv, error) != OPTIONS_RUN)
        return false;
    const bool first = c->n_launches == 0;
    struct launch *l = &c->launches[c->n_launches++];
    *l = c->next;
    for (int i = 0; i < argc; i++) {
        char place[64];
        if (first && !c->file) {
            c->file = argv[i];
        } else if (!l->name) {
            l->name = argv[i];
        } else if (l->n_args == MAX_ARGS) {
            return error_set(error, "launch %zu has more than %d arguments", c->n_launches, MAX_ARGS);
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
    for (int i = 1; i < (int)(sizeof verbs / sizeof *verbs); i++)
        if (!strcmp(word, verbs[i]))
            return (enum verb)i;
    return VERB_NONE;
}

// What does not go together; NULL where all is well.
static const char *contradiction(const struct command *c)
{
    const bool inspecting = c->verb == VERB_INSPECT, drawing = c->verb == VERB_DRAW;
    const char *kernel = c->launches[0].name;
    if (drawing && c->n_launches > 1)
        return "draw takes one launch";
    if (drawing && c->launches[0].cluster[0] &&
        (c->draw.in_cycles || (c->draw.place.view == SIMT_DRAW_TIMELINE && c->card)))
        return "the clock knows no clusters: --timeline without --card";
    if (c->launch > c->n_launches)
        return "--launch: the program makes fewer launches";
    if (!c->file)
        return "which PTX file? (see simt --help)";
    for (size_t i = 1; i < c->n_launches; i++)
        if (!c->launches[i].name)
            return "which kernel is to run next, behind --?";
    if (inspecting && (kernel || c->n_launches > 1))
        return "inspect takes one PTX file";
    return NULL;
}

bool command_parse(struct command *c, int argc, char **argv, char error[DEV_ERROR_MAX])
{
    c->verb = argc > 1 ? verb_named(argv[1]) : VERB_NONE;
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--help"))
            return c->help = true;
    if (c->verb == VERB_NONE)
        return error_set(
            error, "expected a command: inspect, run, profile, check, draw, watch, exec or nvcc (see simt --help)");
    c->again = argc > 2 ? text_command(argv + 2) : NULL;
    c->draw.place.warp = c->verb == VERB_WATCH ? SIMT_ALL_WARPS : 0;
    for (int k = 0; k < 3; k++)
        c->next.grid[k] = c->next.block[k] = 1;
    // argv[from] is the verb, or the "--": where a name of a program stands
    for (int from = 1, to; from < argc; from = to) {
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
    return !wrong || error_set(error, "%s", wrong);
}

void command_free(struct command *c)
{
    for (size_t i = 0; i < c->n_launches; i++)
        for (size_t k = 0; k < c->launches[i].n_args; k++)
            arg_free(&c->launches[i].args[k]);
    buffers_free(&c->buffers);
    free(c->again);
}

int command_unable(const char *message)
{
    fprintf(stderr, "simt: %s\n", message);
    return EXIT_UNABLE;
}
