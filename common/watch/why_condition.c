// Why a branch or a guard went as it did: back from its predicate to the comparison that decided, whose numbers are
// read there, and to the source line that it comes from.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/source.h"
#include "why_inside.h"

enum { PARTS = 6, PART = 64, DEPTH = 8, OPERANDS = 8 };

struct parts {  // an instruction's text, taken apart
    char op[PART], operand[PARTS][PART];
    uint32_t n;
};

static const char *copy_until(const char *at, const char *end, const char *stop, char out[PART])
{
    size_t n = 0;
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n'))
        at++;
    for (; at < end && !strchr(stop, *at); at++)
        if (n + 1 < PART)
            out[n++] = *at;
    while (n && (out[n - 1] == ' ' || out[n - 1] == '\t'))
        n--;
    out[n] = '\0';
    return at;
}

static struct parts take_apart(const struct watch *w, uint32_t instruction)
{
    struct simt_instruction in;
    struct parts p = { .n = 0 };
    if (!simt_instruction(w->kernel, instruction, &in))
        return p;
    const char *at = in.text, *end = in.text + in.text_bytes;
    at = copy_until(at, end, " \t", p.op);
    while (at < end && p.n < PARTS)
        at = copy_until(at + (*at == ','), end, ",", p.operand[p.n++]);
    return p;
}

// The latest step of a lane, up to a moment, that wrote the predicate or register of that name.
static uint64_t definition(const struct watch *w, uint64_t moment, uint32_t warp, uint32_t lane, const char *name)
{
    const size_t n = strlen(name);
    for (uint64_t i = moment + 1; i-- > 0;) {
        if (step_warp(w, i) != warp || !(w->lanes[i] >> lane & 1))
            continue;
        const struct parts p = take_apart(w, step_instruction(w, i));
        const char *first = p.operand[0], *second = strchr(first, '|');
        if (!strcmp(first, name) || (!strncmp(first, name, n) && first[n] == '|') ||
            (second && !strcmp(second + 1, name)))
            return i;
    }
    return WATCH_NONE;
}

// --- what a step read and wrote ---

struct reading {
    uint32_t lane, n;
    struct {
        char name[PART];
        uint64_t value;
    } of[OPERANDS];
};

static bool read_operands(void *context, uint64_t moment, const struct simt_look *look)
{
    struct reading *r = context;
    struct simt_operand o;
    (void)moment;
    for (uint32_t i = 0; r->n < OPERANDS && simt_look_operand(look, i, &o); i++) {
        snprintf(r->of[r->n].name, PART, "%.*s", (int)o.name_bytes, o.name);
        r->of[r->n++].value = o.value[r->lane];
    }
    return false;
}

// By its name, with or without a '!' before it; false for what is no register.
static bool value_of(const struct reading *r, const char *name, uint64_t *value)
{
    const bool negated = *name == '!';
    for (uint32_t i = 0; i < r->n; i++)
        if (!strcmp(r->of[i].name, name + negated)) {
            *value = negated ? !r->of[i].value : r->of[i].value;
            return true;
        }
    return false;
}

static void number_text(const struct reading *r, const char *operand, const char *type, char out[PART])
{
    uint64_t bits;
    float f;
    double d;
    if (!value_of(r, operand, &bits)) {
        snprintf(out, PART, "%s", operand);
        return;
    }
    const int width = atoi(type + 1);
    memcpy(&f, &bits, sizeof f);
    memcpy(&d, &bits, sizeof d);
    if (*type == 'f' && width >= 32)
        snprintf(out, PART, "%g", width == 32 ? (double)f : d);
    else if (*type == 's' && width > 0 && width <= 64)
        snprintf(out, PART, "%" PRId64, (int64_t)(bits << (64 - width)) >> (64 - width));
    else
        snprintf(out, PART, "%" PRIu64, bits);
}

// --- the source's own words ---

enum { COMPARISONS = 6 };
static const struct comparison {
    const char *ptx, *c;
    int negated, swapped;  // numbers in this table
} comparisons[COMPARISONS] = { { "eq", "==", 1, 0 }, { "ne", "!=", 0, 1 }, { "lt", "<", 5, 3 },
                               { "gt", ">", 4, 2 },  { "le", "<=", 3, 5 }, { "ge", ">=", 2, 4 } };

static int comparison_named(const char *ptx)
{
    static const char *const of_unsigned[] = { [2] = "lo", [3] = "hi", [4] = "ls", [5] = "hs" };
    for (int i = 0; i < COMPARISONS; i++)
        if (!strncmp(ptx, comparisons[i].ptx, 2) || (of_unsigned[i] && !strncmp(ptx, of_unsigned[i], 2)))
            return i;
    return -1;
}

// The comparison that stands at a place of a C text, or -1. Brackets of templates have no blank before them.
static int comparison_at(const char *text, const char *at)
{
    const char before = at > text ? at[-1] : ' ';
    const bool equal = *at && at[1] == '=';
    if (*at == '=')
        return equal && !strchr("=!<>", before) ? 0 : -1;
    if (*at == '!')
        return equal ? 1 : -1;
    if ((*at != '<' && *at != '>') || before != ' ' || at[1] == *at)
        return -1;
    return (*at == '<' ? 2 : 3) + 2 * equal;
}

// One side of a comparison: from `at` on in a direction, up to what ends an expression there.
static const char *side_end(const char *text, const char *at, int step)
{
    int depth = 0;
    for (; at >= text && *at; at += step) {
        const bool opens = strchr(step > 0 ? "([" : ")]", *at), closes = strchr(step > 0 ? ")]" : "([", *at);
        if ((closes && !depth) || (!depth && strchr(",;?:&|={}", *at)))
            break;
        depth += opens - closes;
    }
    return at;
}

// The one comparison of this kind in the text (-1: of any kind), as it is written; false if there is none, or several.
static bool find_written(const char *text, int kind, char *out, size_t room)
{
    int n = 0;
    for (const char *at = text; *at; at++) {
        const int here = comparison_at(text, at);
        if (here < 0 || (kind >= 0 && here != kind))
            continue;
        const char *from = side_end(text, at - 1, -1) + 1;
        const char *to = side_end(text, at + strlen(comparisons[here].c), 1);
        while (*from == ' ')
            from++;
        while (to > from && to[-1] == ' ')
            to--;
        snprintf(out, room, "%.*s", (int)(to - from), from);
        n++;
    }
    return n == 1;
}

struct compared {  // what was compared, and what came of it
    int kind;
    char a[PART], b[PART];
    bool holds;
};

static struct compared negated(const struct compared *c)
{
    struct compared n = *c;
    n.kind = comparisons[c->kind].negated;
    n.holds = !c->holds;
    return n;
}

static struct compared swapped(const struct compared *c)
{
    struct compared n = { .kind = comparisons[c->kind].swapped, .holds = c->holds };
    memcpy(n.a, c->b, sizeof n.a);
    memcpy(n.b, c->a, sizeof n.b);
    return n;
}

// The same with the constant on the right one up or down: x >= 256 for x > 255.
static struct compared with_next(const struct compared *c)
{
    static const int kinds[COMPARISONS] = { 0, 1, 4, 5, 2, 3 }, steps[COMPARISONS] = { 0, 0, -1, 1, 1, -1 };
    struct compared n = *c;
    n.kind = kinds[c->kind];
    snprintf(n.b, sizeof n.b, "%lld", strtoll(c->b, NULL, 0) + steps[c->kind]);
    return n;
}

// Says it with the comparison that stands in the source. Compilers change it: they negate it, and of two variables they
// may compare others. So without a constant only a condition that did not hold, which is what leads past something as a
// rule, is taken for the one in the source; else what the PTX compares stands beside that.
static void say(const char *source, const struct compared *c, bool constant, char *text, size_t room)
{
    const struct compared not = negated(c);
    const struct compared forms[] = { constant || !c->holds ? *c : not, not, with_next(c), with_next(&not ) };
    char written[120];
    for (int i = 0; i < (constant ? 4 : 1); i++)
        if (find_written(source, forms[i].kind, written, sizeof written)) {
            snprintf(text, room, "%s: %s %s %s is %s", written, forms[i].a, comparisons[forms[i].kind].c, forms[i].b,
                     forms[i].holds ? "true" : "false");
            return;
        }
    const bool one = find_written(source, -1, written, sizeof written);
    snprintf(text, room, "%s%sin PTX %s %s %s is %s", one ? written : "", one ? ": " : "", c->a, comparisons[c->kind].c,
             c->b, c->holds ? "true" : "false");
}

// --- from the predicate to the comparison ---

// Of a predicate that is computed from others: the one that decided. NULL: it is computed from none.
static const char *decisive(const struct parts *p, const struct reading *r, bool result)
{
    uint64_t a = 0, b = 0;
    const bool both = p->n > 2 && value_of(r, p->operand[1], &a) && value_of(r, p->operand[2], &b);
    if (!strncmp(p->op, "not.pred", 8) || !strncmp(p->op, "mov.pred", 8))
        return p->operand[1];
    if (!both || strncmp(strchr(p->op, '.') ? strchr(p->op, '.') : "", ".pred", 5))
        return NULL;
    const bool decides = strncmp(p->op, "and", 3);  // one that is false decides an AND, one that is true an OR
    return p->operand[result == decides && !!a == result ? 1 : 2];
}

void why_condition(struct watch *w, uint64_t moment, uint32_t instruction, uint32_t warp, uint32_t lane, char *text,
                   size_t room)
{
    char error[DEV_ERROR_MAX], name[PART], source[200];
    struct simt_instruction in;
    struct simt_register guard;
    struct parts p;
    *text = *name = '\0';
    if (simt_instruction(w->kernel, instruction, &in) && simt_register(w->kernel, in.guard, &guard))
        snprintf(name, sizeof name, "%.*s", PART - 1, guard.name);
    for (int depth = 0; depth < DEPTH && *name; depth++) {
        struct reading r = { .lane = lane };
        uint64_t result = 0;
        const uint64_t at = definition(w, moment, warp, lane, name);
        if (at == WATCH_NONE || !watch_run(w, at, at, read_operands, &r, error))
            return;
        p = take_apart(w, step_instruction(w, at));
        value_of(&r, name, &result);
        if (!strncmp(p.op, "setp.", 5) && p.n >= 3) {
            const int kind = comparison_named(p.op + 5);
            const char *type = strrchr(p.op, '.') + 1;
            const unsigned line = watch_line(w, step_instruction(w, at));
            struct compared c = { .kind = kind, .holds = result };
            number_text(&r, p.operand[1], type, c.a);
            number_text(&r, p.operand[2], type, c.b);
            source_text(w->file, line, source, sizeof source);
            const bool whole = *type != 'f', left = strchr("-0123456789", *p.operand[1]) && *p.operand[1];
            const bool right = strchr("-0123456789", *p.operand[2]) && *p.operand[2];
            c = left ? swapped(&c) : c;
            if (kind >= 0)
                say(source, &c, whole && (left || right), text, room);
            return;
        }
        const char *next = decisive(&p, &r, result);
        snprintf(name, sizeof name, "%s", next ? next + (*next == '!') : "");
        moment = at ? at - 1 : 0;
    }
}
