// See measured.h.
#include "measured.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file_text.h"

double measured_value(const char *csv, const char *name)
{
    char key[80], *text = file_text(csv);
    snprintf(key, sizeof key, "\n%s,", name);
    const char *line = strstr(text, key), *value = line ? strchr(line + strlen(key), ',') : NULL;
    cr_assert(value, "%s has no %s", csv, name);
    const double number = atof(value + 1);
    free(text);
    return number;
}
