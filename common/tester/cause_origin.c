// What may be behind a cause, further back than the lines that it names. See cause.h.
#include <stdio.h>

#include "base/source.h"
#include "base/text.h"
#include "cause.h"
#include "kernel_text.h"

// A number that has too few bits for what is made of it.
static void say_narrow(struct cause *c)
{
    struct kernel_chain chain = { .n = 0 };
    char name[KERNEL_NAME], type[KERNEL_NAME];
    for (int i = 0; i < CAUSE_LINES; i++)
        kernel_chain_add(&chain, c->look[i]);
    kernel_chain_follow(&chain, c->lines.file);
    for (unsigned i = 0; i < chain.n; i++) {
        const unsigned line = chain.line[i];
        if (!kernel_text_narrow(c->lines.file, line, name, type))
            continue;
        cause_say(c, "%s%s is a %s at %s:%u: can it hold all of its values?", *c->text ? "; " : "", name, type,
                  source_base_name(c->lines.file), line);
        cause_look_first(c, &line, 1);
        return;
    }
}

static bool is_named(const struct cause *c, unsigned line)
{
    for (int i = 0; i < CAUSE_LINES; i++)
        if (c->look[i] == line)
            return true;
    return false;
}

void cause_say_loops(struct cause *c)
{
    unsigned heads[KERNEL_LOOPS], said = 0;
    const unsigned n = kernel_text_loops(c->lines.file, c->look[0], heads);
    for (unsigned i = n; i-- > 0;)
        if (!is_named(c, heads[i])) {
            if (!said++)
                cause_say(c, "; line %u stands in the loop at line", c->look[0]);
            cause_say(c, "%s %u", said > 1 ? " and that at line" : "", heads[i]);
        }
}

bool cause_say_calls(struct cause *c, unsigned line)
{
    char name[KERNEL_NAME];
    unsigned calls[KERNEL_MAKERS], first[1 + 2 * KERNEL_MAKERS] = { c->look[0] }, n_first = 1;
    const unsigned n =
        line && kernel_text_lambda(c->lines.file, line, name) ? kernel_text_calls(c->lines.file, line, calls) : 0;
    for (unsigned i = 0; i < n; i++)
        if (kernel_text_condition(c->lines.file, calls[i])) {
            first[n_first++] = kernel_text_condition(c->lines.file, calls[i]);
            first[n_first++] = calls[i];
        }
    if (n_first == 1)
        return false;
    cause_say(c, "; %s is called at line%s", name, text_plural(n));
    for (unsigned i = 0; i < n; i++)
        cause_say(c, "%s %u", !i ? "" : i + 1 < n ? "," : " and", calls[i]);
    for (unsigned i = 1; i < n_first; i += 2)
        cause_say(c, "%s line %u behind the condition of line %u", i > 1 ? " and" : ", at", first[i + 1], first[i]);
    cause_say(c, ": does it hold each time?");
    cause_look_first(c, first, n_first);
    return true;
}

// A and B move on wherever the function is called that moves them: once too often, or too early. That is said where
// their step is named, or where one of the calls is and the checks have found nothing.
static void say_steps(struct cause *c)
{
    enum { MOST = 4 };
    const unsigned step = c->lines.line[LINE_STEP_A];
    unsigned calls[KERNEL_MAKERS];
    const unsigned n = step ? kernel_text_calls(c->lines.file, step, calls) : 0;
    bool named = is_named(c, step);
    for (unsigned i = 0; i < n; i++)
        named = named || (!c->seen && is_named(c, calls[i]));
    if (!named || n < 2 || n > MOST)
        return;
    cause_say_where(c);
    cause_say(c, "; A and B move on at lines");
    for (unsigned i = 0; i < n; i++)
        cause_say(c, "%s %u", !i ? "" : i + 1 < n ? "," : " and", calls[i]);
}

void cause_of_origin(struct cause *c)
{
    say_steps(c);
    say_narrow(c);
}
