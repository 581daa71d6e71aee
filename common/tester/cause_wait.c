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

// Whether a barrier is for some of the block's threads: a number of them stands behind the barrier's own.
static bool is_partial(const struct simt_instruction *in)
{
    return memchr(in->text, ',', in->text_bytes) != NULL;
}

// The last wait behind line `from` and up to line `to` of the kernel's text, in the loop with that head if it is not 0;
// 0: none.
enum wait { OF_COPIES, OF_STORES, OF_PRODUCTS, OF_THREADS, OF_SOME_THREADS };

static unsigned wait_within(const struct cause *c, const struct simt_kernel *k, unsigned from, unsigned to,
                            unsigned loop, enum wait what)
{
    static const char *const ops[][2] = {
        [OF_COPIES] = { "cp.async.wait_", "mbarrier.try_wait" },
        [OF_STORES] = { "cp.async.bulk.wait_" },
        [OF_PRODUCTS] = { "wgmma.wait_" },
        [OF_THREADS] = { "bar.", "barrier." },
        [OF_SOME_THREADS] = { "bar.", "barrier." },
    };
    struct simt_instruction in;
    unsigned found = 0;
    for (uint32_t i = 0; simt_instruction(k, i, &in); i++)
        for (size_t w = 0; w < 2 && ops[what][w]; w++) {
            const unsigned own = text_begins(in.op, ops[what][w]) ? slice_line(k, c->lines.file, i, NULL) : 0;
            if (own > from && own <= to && own > found && (!loop || in_loop(c, own, loop)) &&
                (what != OF_SOME_THREADS || is_partial(&in)))
                found = own;
        }
    return found;
}

static bool has_instruction(const struct simt_kernel *k, const char *op)
{
    struct simt_instruction in;
    for (uint32_t i = 0; simt_instruction(k, i, &in); i++)
        if (text_begins(in.op, op))
            return true;
    return false;
}

static void say_pending(struct cause *c, const struct probe *p, const struct simt_finding *f)
{
    unsigned call = 0;
    const struct simt_kernel *k = cause_kernel(p);
    const unsigned own = k ? slice_line(k, c->lines.file, f->here.number, &call) : 0;
    const unsigned from = call > own && call < c->lines.line[LINE_STORE_C] ? call : own;
    const unsigned wait = k ? wait_within(c, k, 0, from, 0, OF_COPIES) : 0;
    if (k && f->there.by == SIMT_BY_CP_ASYNC && !has_instruction(k, "cp.async.commit_group")) {
        cause_say(c, "no cp.async.commit_group makes a group of the copies, so no wait is for them: one belongs behind "
                     "the copies of each tile");
        cause_add_line(c, cause_own_line(c, &f->there.place));
        return;
    }
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

// Where a barrier is missing: on the way back from the earlier access to the later one, round the loop, or between the
// two lines of the kernel's body. The thread of the earlier access may be one round ahead.
static void say_gap(struct cause *c, const struct simt_kernel *k, unsigned earlier, unsigned later)
{
    unsigned heads[KERNEL_LOOPS], from = earlier < later ? earlier : later, to = earlier < later ? later : earlier;
    const unsigned loop = common_loop(c, earlier, later), n = kernel_text_loops(c->lines.file, to, heads);
    if (earlier > later && loop && !wait_within(c, k, earlier, UINT_MAX, loop, OF_THREADS) &&
        !wait_within(c, k, loop, later, loop, OF_THREADS)) {
        cause_say(c, "a missing barrier would belong between line %u and the end of the loop at line %u", earlier,
                  loop);
    } else if (!wait_within(c, k, from, to, 0, OF_THREADS)) {
        for (unsigned i = 0; i < n && heads[i] > from && heads[i] != c->lines.line[LINE_LOOP]; i++)
            to = heads[i];
        if (from < to)
            cause_say(c, "a missing barrier would belong between line %u and line %u", from, to);
    }
}

// Where a wait stands, and another line that it has to do with.
static void say_stands(struct cause *c, const char *which, unsigned wait, const char *so, unsigned line,
                       const char *then)
{
    cause_say(c, "%s stands at %s:%u, %s line %u%s", which, source_base_name(c->lines.file), wait, so, line, then);
    cause_add_line(c, wait);
    cause_add_line(c, line);
}

// A thread's wait is for its own copies: the barrier that tells the others of them has to stand behind it. Whether it
// stands before it.
static bool say_wait_behind(struct cause *c, const struct simt_kernel *k, const struct simt_finding *f)
{
    const unsigned here = line_in_body(c, k, &f->here);
    const unsigned wait = here ? wait_within(c, k, 0, here, 0, OF_COPIES) : 0;
    const unsigned barrier = here ? wait_within(c, k, 0, here, 0, OF_THREADS) : 0;
    if (!meaning_is_copy(&f->there) || f->here.access != SIMT_READS || !barrier || barrier >= wait ||
        !memcmp(f->here.thread, f->there.thread, sizeof f->here.thread))
        return false;
    say_stands(c, "the wait", wait, "behind the barrier at", barrier,
               ". A thread waits for its own copies alone, so the barrier has to come after the wait");
    return true;
}

static void say_line(struct cause *c, unsigned call, unsigned line)
{
    cause_say(c, "line %u", call);
    if (call != line)
        cause_say(c, " (by line %u)", line);
}

void cause_of_stage(struct cause *c, const struct probe *p, const struct simt_finding *race,
                    const struct simt_finding *unwritten)
{
    const struct simt_kernel *k = cause_kernel(p);
    const struct simt_side *write = race->here.access == SIMT_WRITES ? &race->here : &race->there;
    const struct simt_side *read = write == &race->here ? &race->there : &race->here;
    const unsigned stores = line_in_body(c, k, write), store = cause_own_line(c, &write->place);
    const unsigned from = cause_own_line(c, &read->place);
    char bytes[SIMT_FINDING_TEXT], array[MEANING_NAME];
    meaning_array(&unwritten->here, array);
    simt_object_text(&unwritten->object, bytes, sizeof bytes);
    c->meaning = "the next tile is stored into the stage that is still read";
    say_line(c, stores, store);
    cause_say(c, " stores, and ");
    say_line(c, line_in_body(c, k, read), from);
    cause_say(
        c,
        " reads there before the next barrier. The other stage%s%s is read before anything is stored there: %s. So "
        "the stage is wrong on line %u, and no barrier mends that",
        *array ? " of " : "", array, bytes, stores);
    cause_add_line(c, stores);
    cause_add_line(c, store);
    cause_add_line(c, from);
}

// A barrier between the two that they can pass without each other. False: it is no such.
static bool say_barrier(struct cause *c, const struct simt_kernel *k, unsigned line)
{
    const unsigned condition = kernel_text_condition(c->lines.file, line);
    if (wait_within(c, k, line - 1, line, 0, OF_SOME_THREADS))
        cause_say(c, "the barrier at %s:%u between them is for some of the threads: for both of these?",
                  source_base_name(c->lines.file), line);
    else if (condition)
        cause_say(c,
                  "the barrier at %s:%u between them stands behind the condition of line %u: does it hold each time?",
                  source_base_name(c->lines.file), line, condition);
    else
        return false;
    return true;
}

// A wait for products, or a barrier, that stands between the two in the kernel's text, and does not do.
static void say_wait_between(struct cause *c, const struct probe *p, const struct simt_finding *f)
{
    const struct simt_kernel *k = cause_kernel(p);
    const bool products = f->kind == SIMT_WGMMA_WAIT;
    const unsigned here = products ? cause_own_line(c, &f->here.place) : line_in_body(c, k, &f->here);
    const unsigned there = products ? cause_own_line(c, &f->there.place) : line_in_body(c, k, &f->there);
    const unsigned wait = k ? wait_within(c, k, 0, here, 0, products ? OF_PRODUCTS : OF_THREADS) : 0;
    const bool by_threads =
        f->here.by == SIMT_BY_THREAD && f->there.by != SIMT_BY_WGMMA && f->there.by != SIMT_BY_BULK_COPY;
    if (f->kind == SIMT_RACE && k && there && here && by_threads && !meaning_is_one_place(f) &&
        (wait <= there || wait >= here))
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
    else if (products)
        cause_say(c, "a wait stands at %s:%u between them: does it wait for all products?",
                  source_base_name(c->lines.file), wait);
    else if (!say_barrier(c, k, wait))
        return;
    cause_add_line(c, wait);
}

static bool is_bulk_store(const struct simt_side *s)
{
    return s->by == SIMT_BY_BULK_COPY && s->access == SIMT_READS;
}

// One thread waits until a bulk copy has read what is written next: the others learn of it by a barrier behind the
// wait. Whether it stands nowhere before the write.
static bool say_store_wait(struct cause *c, const struct simt_kernel *k, const struct simt_finding *f)
{
    const struct simt_side *write = is_bulk_store(&f->here) ? &f->there : &f->here;
    const struct simt_side *store = write == &f->here ? &f->there : &f->here;
    const unsigned from = line_in_body(c, k, store), to = line_in_body(c, k, write), loop = common_loop(c, from, to);
    const unsigned wait = loop ? wait_within(c, k, loop, to, loop, OF_STORES) : 0;
    if (f->kind != SIMT_RACE || !is_bulk_store(store) || write->access != SIMT_WRITES || !wait ||
        wait_within(c, k, wait, to, loop, OF_THREADS) || !wait_within(c, k, to, from, loop, OF_THREADS))
        return false;
    say_stands(c, "the wait for the bulk copy", wait, "and one thread executes it. The others write at", to,
               " without knowing of it: a barrier is missing between the two lines");
    return true;
}

void cause_of_wait(struct cause *c, const struct probe *p, const struct simt_finding *f)
{
    const struct simt_kernel *k = cause_kernel(p);
    cause_say_where(c);
    if (k && (say_wait_behind(c, k, f) || say_store_wait(c, k, f)))
        return;
    if (f->kind == SIMT_COPY_PENDING)
        say_pending(c, p, f);
    else
        say_wait_between(c, p, f);
}
