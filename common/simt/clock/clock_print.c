// A prediction as text and as JSON. The names are Nsight Compute's.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "clock.h"

#define LINES 12

static const char *const share_names[COUNTS] = {
    [COUNT_FMA] = "fma pipe",
    [COUNT_ALU] = "alu pipe",
    [COUNT_TENSOR] = "tensor pipe",
    [COUNT_FP64] = "fp64 pipe",
    [COUNT_XU] = "xu pipe",
    [COUNT_WAVES] = "data pipe of L1 and shared memory (wavefronts)",
    [COUNT_L2] = "L2",
    [COUNT_DRAM] = "DRAM",
};

static void print_states(FILE *out, const struct sm_result *r)
{
    fprintf(out, "  cycles of a warp for each instruction that it issues, by what it does:\n");
    for (unsigned i = 0; i < STATES; i++)
        if (r->state[i] / (double)r->issued >= 0.005)
            fprintf(out, "    %-20s %8.2f  %s%s\n", sm_state_name((enum sm_state)i), r->state[i] / (double)r->issued,
                    i == STATE_SELECTED || i == STATE_NOT_SELECTED ? "" : "waits ", sm_state_text((enum sm_state)i));
}

struct line {
    uint32_t number, file;
    uint64_t issued;
    double state[STATES], waits;
};

static int by_waits(const void *a, const void *b)
{
    const double x = ((const struct line *)a)->waits, y = ((const struct line *)b)->waits;
    return x < y ? 1 : -(x > y);
}

// Sums the instructions of each source line. Returns how many lines there are.
static size_t gather_lines(const struct simt_prediction *p, struct line *lines)
{
    size_t n = 0;
    for (uint32_t i = 0; i < p->cubin->n; i++) {
        const struct sass *s = &p->cubin->code[i];
        size_t k = 0;
        if (!p->sm.line_issued[i] && p->sm.line_state[(size_t)i * STATES + STATE_BARRIER] <= 0)
            continue;
        while (k < n && (lines[k].number != s->line || lines[k].file != p->cubin->file[i]))
            k++;
        if (k == n)
            lines[n++] = (struct line){ .number = s->line, .file = p->cubin->file[i] };
        lines[k].issued += p->sm.line_issued[i];
        for (unsigned j = 0; j < STATES; j++) {
            lines[k].state[j] += p->sm.line_state[(size_t)i * STATES + j];
            lines[k].waits += p->sm.line_state[(size_t)i * STATES + j];
        }
    }
    return n;
}

static void print_lines(FILE *out, const struct simt_prediction *p)
{
    struct line *lines = calloc(p->cubin->n, sizeof *lines);
    double all = 0;
    if (!lines)
        return;
    const size_t n = gather_lines(p, lines);
    qsort(lines, n, sizeof *lines, by_waits);
    for (size_t i = 0; i < n; i++)
        all += lines[i].waits;
    fprintf(out, "  the lines where warps spend their time, and what they wait for most:\n");
    for (size_t i = 0; i < n && i < LINES; i++) {
        unsigned most = STATE_NOT_SELECTED;
        for (unsigned j = STATE_NOT_SELECTED; j < STATES; j++)
            most = lines[i].state[j] > lines[i].state[most] ? j : most;
        const char *path = lines[i].file ? p->cubin->files[lines[i].file] : "?", *name = strrchr(path, '/');
        fprintf(out, "    %5.1f %%  %s:%u  %s\n", 100 * lines[i].waits / all, name ? name + 1 : path, lines[i].number,
                sm_state_name((enum sm_state)most));
    }
    free(lines);
}

void simt_prediction_print(FILE *out, const struct simt_prediction *p, bool by_line)
{
    fprintf(out, "Predicted for the %s, from the machine code that ptxas makes for it:\n", p->card->name);
    char cycles[TEXT_GROUPED];
    fprintf(out, "  %s cycles at %.2f GHz; %.4g ms, launch included; %llu of %llu blocks of an SM were run\n",
            text_grouped((uint64_t)(p->cycles + 0.5), cycles), p->ghz, p->ms, (unsigned long long)p->sm.blocks,
            (unsigned long long)p->blocks_of_sm);
    if (p->before_ms > 0)
        fprintf(out, "  of the milliseconds, %.4g are for the launches before it, which pack A and B\n", p->before_ms);
    fprintf(out, "  %s\n", p->bound);
    fprintf(out, "  %4.0f %%  schedulers (instructions issued)\n", 100 * p->issue);
    for (unsigned i = 0; i < COUNTS; i++)
        if (p->share[i] >= 0.005)
            fprintf(out, "  %4.0f %%  %s\n", 100 * p->share[i], share_names[i]);
    print_states(out, &p->sm);
    if (p->sm.unknown_branches || p->sm.unknown_addresses)
        fprintf(out, "  Data decide %llu branches and %llu addresses here: what follows them is a guess.\n",
                (unsigned long long)p->sm.unknown_branches, (unsigned long long)p->sm.unknown_addresses);
    if (by_line)
        print_lines(out, p);
}

void simt_prediction_json(struct json *j, const struct simt_prediction *p)
{
    static const char *const keys[COUNTS] = { "fma", "alu", "tensor", "fp64", "xu", "wavefronts", "l2", "dram" };
    json_string(j, "card", p->card->name);
    json_double(j, "predicted_cycles", p->cycles);
    json_double(j, "predicted_ms", p->ms);
    json_double(j, "predicted_ghz", p->ghz);
    json_string(j, "bound", p->bound);
    json_object(j, "predicted_share");
    json_double(j, "issue", p->issue);
    for (unsigned i = 0; i < COUNTS; i++)
        json_double(j, keys[i], p->share[i]);
    json_end(j);
    json_object(j, "predicted_states");
    for (unsigned i = 0; i < STATES; i++)
        json_double(j, sm_state_name((enum sm_state)i), p->sm.state[i] / (double)p->sm.issued);
    json_end(j);
}
