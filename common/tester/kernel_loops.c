// The loops and lambdas of a kernel's text. See kernel_text.h.
#include "kernel_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/source.h"
#include "kernel_words.h"

struct scopes {
    struct scope {
        bool loop;  // or a block
        unsigned line;
    } all[64];
    unsigned n, parens;
    unsigned head;  // of the for statement whose parentheses are open; 0: none
};

static void scope_begin(struct scopes *s, bool loop, unsigned line)
{
    if (s->n < sizeof s->all / sizeof *s->all)
        s->all[s->n++] = (struct scope){ loop, line };
}

// Loops whose body has ended are left.
static void end_loops(struct scopes *s)
{
    while (s->n && s->all[s->n - 1].loop)
        s->n--;
}

static void end_block(struct scopes *s)
{
    end_loops(s);
    s->n -= s->n > 0;
    end_loops(s);
}

// Strings are no part of the kernels' loops, and comments end the line.
static void read_scopes(struct scopes *s, const char *text, unsigned number)
{
    for (const char *p = text; *p && strncmp(p, "//", 2) != 0; p++) {
        if (!s->head && (p == text || !kernel_is_word(p[-1])) && !strncmp(p, "for", 3) && !kernel_is_word(p[3])) {
            s->head = number;
            s->parens = 0;
        } else if (s->head && *p == '(') {
            s->parens++;
        } else if (s->head && *p == ')' && !--s->parens) {
            scope_begin(s, true, s->head);
            s->head = 0;
        } else if (!s->head && *p == '{') {
            scope_begin(s, false, number);
        } else if (!s->head && *p == '}') {
            end_block(s);
        } else if (!s->head && *p == ';') {
            end_loops(s);
        }
    }
}

unsigned kernel_text_loops(const char *file, unsigned line, unsigned heads[KERNEL_LOOPS])
{
    struct scopes s = { .n = 0 };
    unsigned n = 0;
    FILE *in = fopen(file, "r");
    char *text = NULL;
    size_t room = 0;
    for (unsigned number = 1; in && number < line && getline(&text, &room, in) >= 0; number++)
        read_scopes(&s, text, number);
    for (unsigned i = s.n; i-- > 0 && n < KERNEL_LOOPS;)
        if (s.all[i].loop)
            heads[n++] = s.all[i].line;
    free(text);
    if (in)
        fclose(in);
    return n;
}

unsigned kernel_text_loop(const char *file, unsigned use)
{
    char text[256], head[256];
    unsigned heads[KERNEL_LOOPS];
    const unsigned n = kernel_text_loops(file, use, heads);
    source_text(file, use, text, sizeof text);
    for (unsigned i = 0; i < n; i++) {
        source_text(file, heads[i], head, sizeof head);
        if (kernel_counts(head, text))
            return heads[i];
    }
    return 0;
}

// --- Lambdas ---

bool kernel_text_lambda(const char *file, unsigned line, char name[KERNEL_NAME])
{
    char text[256];
    int depth = 0, outside = 0;
    bool inside = false;
    for (unsigned i = 1; i <= line; i++) {
        source_text(file, i, text, sizeof text);
        const bool begins = !inside && sscanf(text, "auto %63[a-z_0-9] = [", name) == 1 && strchr(text, '[');
        if (begins)
            inside = true, outside = depth;
        for (const char *p = text; *p && strncmp(p, "//", 2) != 0; p++)
            depth += *p == '{' ? 1 : *p == '}' ? -1 : 0;
        if (inside && depth <= outside && i < line)
            inside = false;
    }
    return inside;
}

unsigned kernel_text_calls(const char *file, unsigned line, unsigned calls[KERNEL_MAKERS])
{
    char name[KERNEL_NAME], call[KERNEL_NAME + 1];
    unsigned n = 0;
    if (!kernel_text_lambda(file, line, name))
        return 0;
    snprintf(call, sizeof call, "%s(", name);
    FILE *in = fopen(file, "r");
    char *text = NULL;
    size_t room = 0;
    for (unsigned number = 1; in && n < KERNEL_MAKERS && getline(&text, &room, in) >= 0; number++)
        if (kernel_find_word(text, name) && strstr(text, call))
            calls[n++] = number;
    free(text);
    if (in)
        fclose(in);
    return n;
}
