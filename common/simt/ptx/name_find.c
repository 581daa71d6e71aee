// Looking for a name among several, as people write it. See demangle.h.
#include "demangle.h"

#include <stdio.h>
#include <string.h>

// Where a name's parameter list begins: the '(' that closes at its end.
static size_t before_parameters(const char *s)
{
    size_t n = strlen(s), depth = 0;
    if (!n || s[n - 1] != ')')
        return n;
    for (size_t i = n; i-- > 0;) {
        depth += s[i] == ')';
        depth -= s[i] == '(';
        if (!depth)
            return i;
    }
    return n;
}

// "ns::scale<float>(float*)" -> "scale"
static void base_name(const char *s, char out[DEMANGLED_MAX])
{
    size_t end = before_parameters(s), from = 0, depth = 0, stop = end;
    for (size_t i = 0; i < end; i++) {
        if (s[i] == '<' && !depth)
            stop = i;
        depth += s[i] == '<';
        depth -= s[i] == '>' && depth;
        if (!depth && s[i] == ':' && s[i + 1] == ':') {
            from = i + 2;
            stop = end;
        }
    }
    stop = stop < from ? end : stop;
    snprintf(out, DEMANGLED_MAX, "%.*s", (int)(stop - from), s + from);
}

// How well a name fits, 0: not at all
static int fit(const char *query, const char *name)
{
    char whole[DEMANGLED_MAX], base[DEMANGLED_MAX];
    if (!strcmp(query, name))
        return 5;
    demangle(name, whole);
    if (!strcmp(query, whole))
        return 4;
    const size_t n = before_parameters(whole);
    if (strlen(query) == n && !strncmp(query, whole, n))
        return 3;
    base_name(whole, base);
    if (!strcmp(query, base))
        return 2;
    return *query && (strstr(name, query) || strstr(whole, query));
}

// The names that fit so well, the first few of them.
static void list_fitting(const char *query, int best, const char *const *names, size_t n, char *list, size_t size)
{
    const size_t most = best ? 3 : 8;
    size_t used = 0, listed = 0;
    *list = '\0';
    for (size_t i = 0; i < n && listed <= most && used < size; i++) {
        char whole[DEMANGLED_MAX];
        if (fit(query, names[i]) != best)
            continue;
        demangle(names[i], whole);
        if (listed++ < most)
            used += (size_t)snprintf(list + used, size - used, "%s%.120s", listed > 1 ? ", " : "", whole);
        else
            used += (size_t)snprintf(list + used, size - used, ", ...");
    }
}

int name_find(const char *query, const char *const *names, size_t n, char *list, size_t size)
{
    int best = 0, found = NAME_NONE;
    for (size_t i = 0; i < n; i++) {
        const int f = fit(query, names[i]);
        if (!f || f < best)
            continue;
        found = f > best ? (int)i : NAME_SEVERAL;
        best = f;
    }
    if (found < 0)
        list_fitting(query, best, names, n, list, size);
    return found;
}
