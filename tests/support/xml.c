// See xml.h.
#include "xml.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t count(const char *text, const char *what)
{
    size_t n = 0;
    for (; (text = strstr(text, what)); text += strlen(what))
        n++;
    return n;
}

// Skips one tag, "<name a="..." ...>"; the names of open elements are on the stack.
static const char *check_tag(const char *p, char stack[][32], int *depth)
{
    const bool ends = p[1] == '/';
    const char *name = p + 1 + ends;
    const int n = (int)strspn(name, "abcdefghijklmnopqrstuvwxyz");
    bool quoted = false, empty;
    for (p = name + n; *p && (quoted || *p != '>'); p++) {
        cr_assert_neq(*p, '<', "a tag within a tag");
        quoted ^= *p == '"';
    }
    cr_assert(n > 0 && n < 32 && *p == '>', "tag <%.20s", name);
    empty = p[-1] == '/';
    if (ends) {
        cr_assert(*depth > 0 && (int)strlen(stack[*depth - 1]) == n && !strncmp(stack[*depth - 1], name, (size_t)n),
                  "</%.*s> ends <%s>", n, name, *depth ? stack[*depth - 1] : "nothing");
        --*depth;
    } else if (!empty) {
        cr_assert_lt(*depth, 16);
        snprintf(stack[(*depth)++], 32, "%.*s", n, name);
    }
    return p + 1;
}

// Classes of groups are names for tests: a style of that name would reach all that is in the group.
static void check_groups(const char *text)
{
    const char *style_end = strstr(text, "</style>");
    for (const char *p = text; (p = strstr(p, "<g class=\"")); p++) {
        char rule[40];
        snprintf(rule, sizeof rule, ".%.*s ", (int)strcspn(p + 10, "\""), p + 10);
        const char *found = strstr(text, rule);
        cr_assert(!found || found > style_end, "the style has a rule%s for groups", rule);
    }
}

void check_xml(const char *text)
{
    char stack[16][32];
    int depth = 0;
    cr_assert(!strncmp(text, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", 52));
    for (const char *p = text; *p;) {
        if (*p == '<') {
            p = check_tag(p, stack, &depth);
            cr_assert(depth || !strcmp(p, "\n"), "something follows </svg>");
            continue;
        }
        cr_assert(*p != '&' || !strncmp(p, "&amp;", 5) || !strncmp(p, "&lt;", 4) || !strncmp(p, "&gt;", 4), "%.10s", p);
        cr_assert((unsigned char)*p >= ' ' || *p == '\n');
        p++;
    }
    cr_assert_eq(depth, 0);
    check_groups(text);
    cr_assert_null(strstr(text + 52, "http"), "a picture needs nothing from elsewhere");
    cr_assert_leq(atoi(strstr(text, " width=\"") + 8), 1200);
}
