// See ptxas.h.
#include "ptxas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "ptx_file.h"

const char *ptxas_program(void)
{
    return PTXAS;
}

// The warning in a line of that many bytes; NULL if it is none. What costs time alone is told as an "info" with a
// number: (C7508).
static const char *warning_in(const char *line, size_t bytes)
{
    static const char warning[] = "ptxas warning", info[] = "ptxas info";
    const char *colon = memchr(line, ':', bytes);
    if (!colon)
        return NULL;
    const char *text = colon + 1 + strspn(colon + 1, " ");
    const bool numbered = !strncmp(line, info, strlen(info)) && !strncmp(text, "(C", 2);
    return numbered || !strncmp(line, warning, strlen(warning)) ? text : NULL;
}

char *ptxas_pick_warnings(const char *said)
{
    char *all = calloc(1, strlen(said) + 2), *end = all;
    for (const char *line = said; all && *line;) {
        const size_t bytes = strcspn(line, "\n");
        const char *text = warning_in(line, bytes);
        if (text) {
            const size_t n = (size_t)(line + bytes - text);
            memcpy(end, text, n);
            end[n] = '\n';
            end[n + 1] = '\0';
            const bool again = strstr(all, end) < end;
            end += again ? 0 : n + 1;
            *end = '\0';
        }
        line += bytes + (line[bytes] == '\n');
    }
    if (all && *all)
        return all;
    free(all);
    return NULL;
}

// The instructions that ptxas warns of by a number: it may ignore a setmaxnreg, and run wgmma one after the other.
static bool may_warn(const char *text)
{
    return strstr(text, "setmaxnreg") || strstr(text, "wgmma.mma_async");
}

char *ptxas_warnings(const char *ptx, const char *kernel)
{
    char error[DEV_ERROR_MAX], arch[24], *said;
    size_t bytes;
    char *text = ptx_file_read(ptx, &bytes, error);
    bool alone = false;
    int status;
    const unsigned target = text && may_warn(text) ? ptx_text_target(text, &alone) : 0;
    free(text);
    snprintf(arch, sizeof arch, "-arch=sm_%u%s", target, alone ? "a" : "");
    char *argv[] = { (char *)PTXAS, arch, (char *)"--entry", (char *)kernel, (char *)"-o", (char *)"/dev/null",
                     (char *)ptx,   NULL };
    if (!target || !program_run(argv, &said, &status))
        return NULL;
    char *warnings = status ? NULL : ptxas_pick_warnings(said);
    free(said);
    return warnings;
}

void ptxas_print(FILE *out, const char *before, const char *warnings)
{
    for (const char *line = warnings; *line; line += strcspn(line, "\n") + 1)
        fprintf(out, "%sptxas warns: %.*s\n", before, (int)strcspn(line, "\n"), line);
}
