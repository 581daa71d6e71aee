// Which wait or barrier does not do, or where one is missing. See cause.h.
#include <limits.h>
#include <string.h>

#include "base/source.h"
#include "base/text.h"
#include "cause.h"
#include "kernel_text.h"
#include "meaning.h"
#include "probe.h"
#include "slice.h"

static bool in_loop(const struct cause *c, unsigned line, unsigned head)
{
    unsigned heads[KERNEL_LOOPS];
    const unsigned n = kernel_text_loops(c->lines.file, line, heads);
    for (unsigned i = 0; i < n; i++)
        if (heads[i] == head)
            return true;
    return false;
}

// The innermost loop around both lines; 0: there is none.
static unsigned common_loop(const struct cause *c, unsigned one, unsigned other)
{
    unsigned heads[KERNEL_LOOPS];
    const unsigned n = kernel_text_loops(c->lines.file, one, heads);
    for (unsigned i = 0; i < n; i++)
        if (in_loop(c, other, heads[i]))
            return heads[i];
    return 0;
}

// The last wait behind line `from` and up to line `to` of the kernel's text, in the loop with that head if it is not 0;
// 0: none.
enum wait { OF_COPIES, OF_PRODUCTS, OF_THREADS };

static unsigned wait_within(const struct cause *c, const struct simt_kernel *k, unsigned from, unsigned to,
                            unsigned loop, enum wait what)
{
    static const char *const waits[] = { "cp.async.wait_", "mbarrier.try_wait" },
                             *const of_products[] = { "wgmma.wait_", "wgmma.wait_" },
                             *const barriers[] = { "bar.", "barrier." };
    const char *const *wanted = what == OF_COPIES ? waits : what == OF_PRODUCTS ? of_products : barriers;
    struct simt_instruction in;
    unsigned found = 0;
    for (uint32_t i = 0; simt_instruction(k, i, &in); i++)
        for (size_t w = 0; w < 2; w++) {
            const unsigned own = text_begins(in.op, wanted[w]) ? slice_line(k, c->lines.file, i, NULL) : 0;
            if (own > from && own <= to && own > found && (!loop || in_loop(c, own, loop)))
                found = own;
        }
    return found;
}

static void say_pending(struct cause *c, const struct probe *p, const struct simt_finding *f)
{
    unsigned call = 0;
    const struct simt_kernel *k = cause_kernel(p);
    const unsigned own = k ? slice_line(k, c->lines.file, f->here.number, &call) : 0;
    const unsigned from = call > own && call < c->lines.line[LINE_STORE_C] ? call : own;
    const unsigned wait = k ? wait_within(c, k, 0, from, 0, OF_COPIES) : 0;
    if (!wait || f->here.access != SIMT_READS)
        return;
    cause_say(c, "the wait before it stands at %s:%u", source_base_name(c->lines.file), wait);
    cause_add_line(c, wait);
    const unsigned stage = f->there.by == SIMT_BY_CP_ASYNC ? c->lines.line[LINE_STAGE] : 0;
    if (common_loop(c, from, stage) && cause_add_line(c, stage))
        cause_say(c, ", and the stage is set at line %u", stage);
}

// Where the kernel's body comes to it: the line, or the call of the function that has it.
static unsigned line_in_body(const struct cause *c, const struct simt_kernel *k, const struct simt_side *s)
{
    unsigned call = 0;
    const unsigned own = k ? slice_line(k, c->lines.file, s->number, &call) : 0;
    return call && call < c->lines.line[LINE_STORE_C] ? call : own;
}

// Where a barrier is missing: between the two lines of the kernel's body, or on the way back from the earlier access to
// the later one, round the loop.
static void say_gap(struct cause *c, const struct simt_kernel *k, unsigned earlier, unsigned later)
{
    unsigned heads[KERNEL_LOOPS], from = earlier < later ? earlier : later, to = earlier < later ? later : earlier;
    const unsigned loop = common_loop(c, earlier, later), n = kernel_text_loops(c->lines.file, to, heads);
    if (!wait_within(c, k, from, to, 0, OF_THREADS)) {
        for (unsigned i = 0; i < n && heads[i] > from && heads[i] != c->lines.line[LINE_LOOP]; i++)
            to = heads[i];
        if (from < to)
            cause_say(c, "a missing barrier would belong between line %u and line %u", from, to);
    } else if (earlier > later && loop && !wait_within(c, k, earlier, UINT_MAX, loop, OF_THREADS) &&
               !wait_within(c, k, loop, later, loop, OF_THREADS)) {
        cause_say(c, "a missing barrier would belong between line %u and the end of the loop at line %u", earlier,
                  loop);
    }
}

// A wait for products, or a barrier, that stands between the two in the kernel's text, and does not do.
static void say_wait_between(struct cause *c, const struct probe *p, const struct simt_finding *f)
{
    const struct simt_kernel *k = cause_kernel(p);
    const bool products = f->kind == SIMT_WGMMA_WAIT;
    const unsigned here = products ? cause_own_line(c, &f->here.place) : line_in_body(c, k, &f->here);
    const unsigned there = products ? cause_own_line(c, &f->there.place) : line_in_body(c, k, &f->there);
    const unsigned wait = k ? wait_within(c, k, 0, here, 0, products ? OF_PRODUCTS : OF_THREADS) : 0;
    if (f->kind == SIMT_RACE && k && there && here && !meaning_is_one_place(f) && (wait <= there || wait >= here))
        say_gap(c, k, there, here);
    if (!there || wait <= there || wait >= here)
        return;
    const unsigned loop = products ? 0 : common_loop(c, there, here);
    const bool back = loop && (wait_within(c, k, loop, there, loop, OF_THREADS) ||
                               wait_within(c, k, here, UINT_MAX, loop, OF_THREADS));
    if (loop && !back)
        cause_say(
            c, "a barrier stands at %s:%u on the way from line %u to line %u, and none on the way back, round the loop",
            source_base_name(c->lines.file), wait, there, here);
    else
        cause_say(c, "%s stands at %s:%u between them: does it wait for %s?", products ? "a wait" : "a barrier",
                  source_base_name(c->lines.file), wait, products ? "all products" : "all of the threads that meet");
    cause_add_line(c, wait);
}

void cause_of_wait(struct cause *c, const struct probe *p, const struct simt_finding *f)
{
    cause_say_where(c);
    if (f->kind == SIMT_COPY_PENDING)
        say_pending(c, p, f);
    else
        say_wait_between(c, p, f);
}
