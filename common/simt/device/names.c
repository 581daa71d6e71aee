// Kernels and variables of a module by what people call them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simt/ptx/demangle.h"
#include "state.h"

static bool complain(int found, const char *what, const char *name, const char *list, char error[DEV_ERROR_MAX])
{
    if (found == NAME_SEVERAL)
        return error_set(error, "'%.200s' may mean several %ss: %.500s", name, what, list);
    if (!name)
        return error_set(error, "which %s? The file has %.700s", what, *list ? list : "none");
    return error_set(error, "there is no %s '%.200s': the file has %.700s", what, name, *list ? list : "none");
}

// name_find among the kernels.
static int find_kernel(const struct simt_module *m, const char *name, char list[SIMT_LIST_MAX])
{
    const char **names = calloc(m->n_kernels + 1, sizeof *names);
    for (uint32_t i = 0; names && i < m->n_kernels; i++)
        names[i] = m->kernels[i].name;
    *list = '\0';
    const int found = names ? name_find(name, names, m->n_kernels, list, SIMT_LIST_MAX) : NAME_NONE;
    free(names);
    return found;
}

void simt_kernel_list(const struct simt_module *m, char list[SIMT_LIST_MAX])
{
    find_kernel(m, "", list);
}

int64_t names_kernel(const struct simt_module *m, const char *name, char error[DEV_ERROR_MAX])
{
    char list[SIMT_LIST_MAX];
    const int found = find_kernel(m, name ? name : "", list);
    if (found < 0)
        complain(found, "kernel", name, list, error);
    return found < 0 ? -1 : found;
}

int64_t names_variable(const struct simt_module *m, const char *name, char error[DEV_ERROR_MAX])
{
    const uint32_t n = m->ptx->n_vars;
    char list[SIMT_LIST_MAX] = "", *text = NULL;
    const char **names = calloc(n + 1, sizeof *names);
    uint32_t *index = calloc(n + 1, sizeof *index), count = 0;
    size_t bytes = 1;
    for (uint32_t i = 0; i < n; i++)
        bytes += m->ptx->vars[i].name.n + 1u;
    int found = NAME_NONE;
    if (names && index && (text = malloc(bytes))) {
        char *end = text;
        for (uint32_t i = 0; i < n; i++) {
            const struct ptx_var *v = &m->ptx->vars[i];
            if (!m->globals[i] || v->local)
                continue;
            names[count] = end;
            index[count++] = i;
            end += sprintf(end, "%.*s", (int)v->name.n, v->name.p) + 1;
        }
        found = name_find(name, names, count, list, sizeof list);
    }
    const int64_t number = found < 0 ? -1 : (int64_t)index[found];
    if (found < 0)
        complain(found, "variable", name, list, error);
    free(names);
    free(index);
    free(text);
    return number;
}

bool simt_source_name(const char *name, char source[SIMT_NAME_MAX])
{
    _Static_assert(SIMT_NAME_MAX >= DEMANGLED_MAX, "a name fits");
    return demangle(name, source);
}
