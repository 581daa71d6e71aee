// See cause.h.
#include "cause.h"

#include <stdio.h>
#include <string.h>

#include "cause_size.h"
#include "kernel_text.h"
#include "look.h"
#include "meaning.h"
#include "probe.h"

// --- Under the checks ---

// The place's line in the kernel's own file.
static void add_place(struct cause *c, const struct simt_finding_place *p)
{
    const bool own = p->file && !strcmp(p->file, c->lines.file);
    if (own)
        cause_add_line(c, p->line);
    if (own && p->caller < c->lines.line[LINE_STORE_C] && p->caller_file && !strcmp(p->caller_file, c->lines.file))
        cause_add_line(c, p->caller);  // but that of the whole kernel
    if (!own && p->caller_file && !strcmp(p->caller_file, c->lines.file))
        cause_add_line(c, p->caller);
}

// Two arrays that meet: where they begin.
static void add_arrays(struct cause *c, const struct simt_finding *f)
{
    char here[MEANING_NAME], there[MEANING_NAME];
    if (simt_finding_class(f->kind) != SIMT_CLASS_RACE || !meaning_arrays(f, here, there))
        return;
    cause_add_line(c, kernel_text_defines(c->lines.file, here));
    cause_add_line(c, kernel_text_defines(c->lines.file, there));
}

// Two threads that meet in one place: where the pointer begins that the line goes by, or the function that it calls.
static void add_pointer(struct cause *c, const struct simt_finding *f)
{
    unsigned makers[KERNEL_MAKERS];
    if (simt_finding_class(f->kind) != SIMT_CLASS_RACE || f->object.space != SIMT_SHARED || !c->look[0] || c->look[1])
        return;
    const unsigned n = kernel_text_makers(c->lines.file, c->look[0], makers);
    unsigned pointer = kernel_text_pointer(c->lines.file, c->look[0]);
    for (unsigned i = 0; i < n && !pointer; i++)
        pointer = kernel_text_call(c->lines.file, makers[i]) ? kernel_text_pointer(c->lines.file, makers[i]) : 0;
    cause_add_line(c, pointer);
}

// On a device of its own: what is known of the finding is lost with the next launch on p's.
static void tell_what_led(struct cause *c, const struct probe *p, const struct tester_options *o,
                          const struct simt_finding *f, const struct simt_findings *found)
{
    const struct step step = { .type = p->type, .ptx = p->ptx };
    struct probe own;
    if (probe_open(&own, &step, &p->geometry, true, o->jobs)) {
        own.end = p->end;
        own.eager = o->eager;
        own.sms = o->sms;
        cause_of_finding(c, &own, o, true, f, found);
    }
    probe_close(&own);
}

static bool can_look(const struct size *s)
{
    return s->m <= LOOK_MAX && s->n <= LOOK_MAX && s->k <= LOOK_MAX;
}

// C is read although beta is 0: whether alpha is where beta belongs. The findings are lost with it.
static void tell_factors(struct cause *c, struct probe *p, const struct tester_options *o)
{
    const struct size s = { o->m, o->n, o->k };
    struct cause value = { .lines = c->lines, .ran = c->ran, .staged = c->staged };
    if (can_look(&s) && cause_of_value(&value, p, s.m, s.n, s.k) && strstr(value.text, "alpha"))
        cause_say(c, "; %s", value.text);
}

enum outcome { RIGHT, WRONG, UNWRITTEN_READ, RACED, EXPLAINED, FAILED };

// An uninitialised read, or a race, may be due to another mistake.
static enum outcome tell(struct cause *c, struct probe *p, const struct simt_findings *found,
                         const struct tester_options *o)
{
    const struct simt_finding *first = cause_first_finding(found);
    const enum simt_finding_kind kind = first->kind;
    struct cause led = { .lines = c->lines, .ran = c->ran, .staged = c->staged };
    char text[SIMT_FINDING_TEXT];
    simt_finding_text(first, text, sizeof text);
    tell_what_led(&led, p, o, first, found);
    cause_say(c, "%s (%s): %s", led.meaning ? led.meaning : meaning_text(first, o), simt_finding_name(kind), text);
    c->seen = strlen(c->text);
    for (int i = 0; led.meaning && i < CAUSE_LINES && led.look[i]; i++)
        cause_add_line(c, led.look[i]);
    add_place(c, &first->here.place);
    add_place(c, &first->there.place);
    add_arrays(c, first);
    add_pointer(c, first);
    c->says_where = led.says_where;
    c->where = c->seen + (led.where ? strlen("; ") + led.where : 0);
    if (*led.text)
        cause_say(c, "; %s", led.text);
    for (int i = 0; i < CAUSE_LINES && led.look[i]; i++)
        cause_add_line(c, led.look[i]);
    if (meaning_reads_c(first, o))
        tell_factors(c, p, o);
    return kind == SIMT_UNINIT_MEMORY                    ? UNWRITTEN_READ
           : simt_finding_class(kind) == SIMT_CLASS_RACE ? RACED
                                                         : EXPLAINED;
}

// One product of this size: is it wrong, and what do the checks say?
static enum outcome try_size(struct cause *c, struct probe *p, const struct size *s, const struct tester_options *o,
                             bool checks)
{
    struct probe_data x;
    struct tester_options sized = *o;
    enum outcome outcome = FAILED;
    sized.m = s->m, sized.n = s->n, sized.k = s->k;
    if (probe_fill(&x, p->type, &sized)) {
        const struct probe_product r = { o->alpha, o->beta, &x.A, &x.B, o->beta != 0 ? &x.C0 : NULL };
        if (probe_run(p, &r, &x.C))  // a size that cannot be run tells about itself alone
            outcome = matrix_check(&x.C, o->alpha, &x.A, &x.B, o->beta, r.C0).right ? RIGHT : WRONG;
        if (outcome != FAILED)
            cause_read_lines(c, p);
        const struct simt_findings *found = checks && outcome != FAILED ? probe_check(p, &r, &x.C) : NULL;
        if (found && found->n)
            outcome = tell(c, p, found, &sized);
    }
    probe_release(&x);
    return outcome;
}

// --- Which rests matter? ---

// Where the error is there without rests, the size becomes one without; where one of the rests makes it, the others go,
// and it is said which.
static void settle_rests(struct cause *c, struct probe *p, struct size *s, const struct tester_options *o)
{
    const struct size whole = size_whole(s, &p->geometry);
    const struct size only[] = { { s->m, whole.n, whole.k }, { whole.m, s->n, whole.k }, { whole.m, whole.n, s->k } };
    const int tiles[] = { p->geometry.bm, p->geometry.bn, p->geometry.bk }, sizes[] = { s->m, s->n, s->k };
    int wrong = 0, which = 0;
    if (size_same(s, &whole))
        return;
    const enum outcome clean = try_size(c, p, &whole, o, false);
    if (clean == WRONG)
        *s = whole;
    for (int i = 0; clean == RIGHT && i < 3; i++)
        if (!size_same(&only[i], &whole) && try_size(c, p, &only[i], o, false) == WRONG) {
            wrong++;
            which = i;
        }
    if (wrong != 1)
        return;
    *s = only[which];
    cause_say(c, "only where %c is no multiple of %d (here %d = %d * %d + %d): ", "MNK"[which], tiles[which],
              sizes[which], sizes[which] / tiles[which], tiles[which], sizes[which] % tiles[which]);
}

// Whether what a block leaves behind, or its walk over the tiles, makes the error: with a block for each tile all is
// right.
static void settle_walk(struct cause *c, struct probe *p, const struct size *s, const struct tester_options *o)
{
    enum { MANY = 1 << 20 };
    if (!p->geometry.blocks)
        return;
    p->sms = MANY;
    if (try_size(c, p, s, o, false) == RIGHT)
        cause_say(c, "the first tile of each block is right, and a later one is wrong, so look at what must begin anew "
                     "with each tile (accumulators, stage and parity) and at the order of the tiles: ");
    p->sms = o->sms;
}

// The numbers in the text from `begin` on are those of a product of this size: that is said where it is not o's.
static void say_size(struct cause *c, size_t begin, const struct size *s, const struct tester_options *o)
{
    char text[CAUSE_TEXT];
    if (s->m == o->m && s->n == o->n && s->k == o->k)
        return;
    snprintf(text, sizeof text, "%s", c->text + begin);
    c->text[begin] = '\0';
    cause_say(c, "in a product of %d x %d x %d, ", s->m, s->n, s->k);
    c->where += c->where > begin ? strlen(c->text) - begin : 0;
    cause_say(c, "%s", text);
}

static bool look(struct cause *c, struct probe *p, const struct size *s, const struct tester_options *o)
{
    struct look l = { 0 };
    const size_t begin = strlen(c->text);
    bool told = false;
    if (can_look(s) && look_take(&l, p, s->m, s->n, s->k)) {
        if (s->k <= s->m &&
            look_is_zero(&l))  // no product reaches C, at least where beta is 0: its factor may be wrong
            told = cause_of_value(c, p, s->m, s->n, s->k);
        if (!told && (cause_of_place(c, p, &l) || (o->beta != 0 && cause_of_stored_again(c, p, s->m, s->n, s->k)))) {
            told = true;
            say_size(c, begin, s, o);
        }
        told = told || cause_of_value(c, p, s->m, s->n, s->k);
    }
    look_free(&l);
    return told;
}

static bool look_for_unwritten(struct cause *c, struct probe *p, const struct size *s, const struct tester_options *o)
{
    struct look l = { 0 };
    const size_t begin = strlen(c->text);
    const bool told = can_look(s) && look_take(&l, p, s->m, s->n, s->k) && cause_of_unwritten(c, p, &l);
    if (told)
        say_size(c, begin, s, o);
    look_free(&l);
    return told;
}

// What is known so far is all there is to say.
static void close_text(struct cause *c)
{
    static const enum line_role roles[] = { LINE_BROW, LINE_MULTIPLY, LINE_ROLES };
    size_t n = strlen(c->text);
    if (!n)
        return;
    if (n > 2 && !strcmp(c->text + n - 2, ": "))
        c->text[n - 2] = '\0';
    cause_look_at(c, roles);
}

// Mistaken rows of a tile lead to uninitialised reads, too, and where elements of C are never written, threads may meet
// in others: that says more. No missing barrier leaves out an element.
static void look_behind(struct cause *c, struct probe *p, const struct size *s, const struct tester_options *o,
                        enum outcome outcome)
{
    struct cause other = { .lines = c->lines, .ran = c->ran, .boxes = c->boxes, .staged = c->staged };
    struct look l = { 0 };
    if (outcome == RACED) {
        if (look_for_unwritten(&other, p, s, o))
            *c = other;
        return;
    }
    if (can_look(s) && look_take(&l, p, s->m, s->n, s->k) && cause_of_place(&other, p, &l) && other.certain)
        *c = other;
    look_free(&l);
}

// On one device: the simulated GPU, which has checks, or the real one.
static void find_on(struct cause *c, const struct step *step, const struct geometry *g, const struct tester_options *o,
                    bool simulated)
{
    const struct size whole = { o->m, o->n, o->k }, part = size_small(&whole, g);
    struct probe p;
    if (probe_open(&p, step, g, simulated, o->jobs)) {
        p.eager = o->eager;
        p.sms = o->sms;
        const bool checks = simulated && !o->sanitize;  // with --sanitize they have found nothing in all of it
        struct size s = part;
        enum outcome outcome = try_size(c, &p, &s, o, checks);
        if ((outcome == RIGHT || outcome == FAILED) && size_cost(&whole) <= SIZE_COST) {
            s = whole;
            outcome = try_size(c, &p, &s, o, checks);
        }
        if (outcome == WRONG && !look_for_unwritten(c, &p, &s, o)) {
            settle_rests(c, &p, &s, o);
            settle_walk(c, &p, &s, o);
            if (!look(c, &p, &s, o))
                close_text(c);
        }
        if (outcome == UNWRITTEN_READ || outcome == RACED)
            look_behind(c, &p, &s, o, outcome);
    }
    probe_close(&p);
}

void cause_of_error(struct cause *c, const struct step *step, const struct geometry *g, const struct tester_options *o,
                    bool checked, const struct simt_finding *f, const struct simt_findings *found)
{
    struct probe p;
    *c = (struct cause){ 0 };
    if (probe_open(&p, step, g, true, o->jobs)) {
        p.eager = o->eager;
        p.sms = o->sms;
        cause_of_finding(c, &p, o, checked, f, found);
    }
    cause_of_origin(c);
    probe_close(&p);
}

void cause_find(struct cause *c, const struct step *step, const struct geometry *g, const struct tester_options *o,
                bool simulated)
{
    *c = (struct cause){ 0 };
    find_on(c, step, g, o, true);
    if (!*c->text && !simulated)
        find_on(c, step, g, o, false);
    if (*c->text)
        cause_of_origin(c);
}

void cause_of_far(struct cause *c, const struct step *step, const struct geometry *g, int row, int col)
{
    static const enum line_role rows[] = { LINE_BROW, LINE_ROW, LINE_ROLES },
                                cols[] = { LINE_BCOL, LINE_COL, LINE_ROLES };
    *c = (struct cause){ 0 };
    kernel_lines_read(&c->lines, step->ptx, g->kernel, NULL);
    cause_say(
        c,
        "%s %d is wrong, and small ones are right: where a block's first %s comes from its number, a large one is "
        "mistaken, or has too few bits",
        row ? "row" : "column", row ? row : col, row ? "row" : "column");
    c->seen = strlen(c->text);
    cause_look_at(c, row ? rows : cols);
    cause_of_origin(c);
}
