// See text.h.
#include "text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *text_grouped(uint64_t value, char text[TEXT_GROUPED])
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%" PRIu64, value);
    char *to = text;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}

const char *text_duration(double seconds, char text[TEXT_DURATION])
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = { { "days", 86400 }, { "hours", 3600 }, { "minutes", 60 }, { "seconds", 1 } };
    size_t i = 0;
    while (i < 3 && seconds < 2 * units[i].seconds)
        i++;
    const double n = seconds / units[i].seconds;
    snprintf(text, TEXT_DURATION, "%.*f %s", n < 9.95, n, units[i].name);
    return text;
}

const char *text_plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

bool text_begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

bool text_means(const char *text, const char *name)
{
    static const char digits[] = "0123456789";
    const char *letters = text + strspn(text, digits), *of_name = name + strspn(name, digits);
    const bool same_letters = text_begins(of_name, letters) && strlen(letters) == strcspn(of_name, "_");
    return !strcmp(text, name) || (letters > text && same_letters && atoi(text) == atoi(name));
}

const char *text_number(const char *name, char number[TEXT_NUMBER])
{
    name += strspn(name, "0");
    snprintf(number, TEXT_NUMBER, "%.*s", (int)strcspn(name, "_"), name);
    return number;
}

void text_one_line(char *text, char instead)
{
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = instead;
}

unsigned text_line(const char *text, const char *at)
{
    unsigned line = 1;
    for (const char *p = text; (p = memchr(p, '\n', (size_t)(at - p))); p++)
        line++;
    return line;
}

void text_add(struct text_end *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(t->at, t->left, format, args);
    va_end(args);
    const size_t used = n < 0 ? 0 : (size_t)n < t->left ? (size_t)n : t->left - 1;
    t->at += used;
    t->left -= used;
}

void text_add_warps(struct text_end *t, uint32_t warps)
{
    const char *between = "";
    text_add(t, warps & (warps - 1) ? "warps " : "warp ");
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t last = i;
        if (!(warps >> i & 1))
            continue;
        while (last + 1 < 32 && warps >> (last + 1) & 1)
            last++;
        text_add(t, last > i ? "%s%u to %u" : "%s%u", between, i, last);
        between = ", ";
        i = last;
    }
}

static void put_quoted(FILE *f, const char *word)
{
    fputc('\'', f);
    for (; *word; word++)
        *word == '\'' ? fputs("'\\''", f) : fputc(*word, f);
    fputc('\'', f);
}

char *text_command(char *const *words)
{
    static const char plain[] = "_./=,:+%@-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char *text = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);
    for (const char *between = ""; f && *words; words++, between = " ") {
        fputs(between, f);
        if (**words && !(*words)[strspn(*words, plain)])
            fputs(*words, f);
        else
            put_quoted(f, *words);
    }
    if (f)
        fclose(f);
    return text;
}
