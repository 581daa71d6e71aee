// See file_text.h.
#include "file_text.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

char *file_text(const char *path)
{
    char *text = file_read(path);
    cr_assert(text, "%s: %s", path, strerror(errno));
    cr_assert(*text, "%s is empty", path);
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
