// See file_text.h.
#include "file_text.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

char *file_text(const char *path)
{
    FILE *f = fopen(path, "rb");
    cr_assert(f, "%s is missing", path);
    char *text = calloc(1, 1 << 20);
    size_t n = fread(text, 1, (1 << 20) - 1, f);
    fclose(f);
    cr_assert(n > 0, "%s is empty", path);
    return text;
}

unsigned file_line_of(const char *path, const char *words)
{
    char *text = file_text(path);
    const char *at = strstr(text, words);
    cr_assert(at, "%s is not in %s", words, path);
    const unsigned line = text_line(text, at);
    free(text);
    return line;
}
