// Writes JSON (RFC 8259) to a stream, value by value, two spaces of indentation a level.
#include "json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void json_open(struct json *j, FILE *out)
{
    memset(j, 0, sizeof *j);
    j->out = out;
}

// Length of the UTF-8 sequence at s, or 0 where there is none: overlong forms, surrogates and values above U+10FFFF are
// not UTF-8 (RFC 3629 section 4).
static int utf8_length(const unsigned char *s)
{
    int length = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
    for (int i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)  // stops at the terminating NUL, too
            return 0;
    bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    bool surrogate = s[0] == 0xed && s[1] >= 0xa0;
    bool above = s[0] == 0xf4 && s[1] >= 0x90;
    return overlong || surrogate || above ? 0 : length;
}

static void write_string(struct json *j, const char *text)
{
    static const char escapes[] = "\"\"\\\\\bb\ff\nn\rr\tt";  // pairs: a character, and what follows its backslash
    const unsigned char *s = (const unsigned char *)text;
    fputc('"', j->out);
    while (*s) {
        const char *escape = NULL;
        for (const char *e = escapes; *e && !escape; e += 2)
            if ((unsigned char)*e == *s)
                escape = e + 1;
        int length = utf8_length(s);
        if (escape)
            fprintf(j->out, "\\%c", *escape);
        else if (*s < 0x20)
            fprintf(j->out, "\\u%04x", *s);
        else if (length)
            fwrite(s, 1, (size_t)length, j->out);
        else
            fputs("\\ufffd", j->out);
        s += length ? length : 1;
    }
    fputc('"', j->out);
}

static void new_line(struct json *j)
{
    fprintf(j->out, "\n%*s", 2 * j->depth, "");
}

// What comes before a value: the comma after the one before it, its line, its key.
static void begin_value(struct json *j, const char *key)
{
    if (j->depth > 0) {
        if (!j->first[j->depth - 1])
            fputc(',', j->out);
        j->first[j->depth - 1] = false;
        new_line(j);
    }
    if (key) {
        write_string(j, key);
        fputs(": ", j->out);
    }
}

static void begin_container(struct json *j, const char *key, char open, char close)
{
    if (j->depth == JSON_DEPTH || j->misused) {
        j->misused = true;
        return;
    }
    begin_value(j, key);
    fputc(open, j->out);
    j->close[j->depth] = close;
    j->first[j->depth] = true;
    j->depth++;
}

void json_object(struct json *j, const char *key)
{
    begin_container(j, key, '{', '}');
}

void json_array(struct json *j, const char *key)
{
    begin_container(j, key, '[', ']');
}

void json_end(struct json *j)
{
    if (j->depth == 0 || j->misused) {
        j->misused = true;
        return;
    }
    j->depth--;
    if (!j->first[j->depth])
        new_line(j);
    fputc(j->close[j->depth], j->out);
}

void json_string(struct json *j, const char *key, const char *value)
{
    begin_value(j, key);
    write_string(j, value);
}

void json_uint(struct json *j, const char *key, uint64_t value)
{
    begin_value(j, key);
    fprintf(j->out, "%" PRIu64, value);
}

void json_int(struct json *j, const char *key, int64_t value)
{
    begin_value(j, key);
    fprintf(j->out, "%" PRId64, value);
}

void json_double(struct json *j, const char *key, double value)
{
    begin_value(j, key);
    if (!isfinite(value)) {
        fputs("null", j->out);  // JSON has no NaN and no infinity
        return;
    }
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {  // 17 always read back as the same double, fewer often do
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    fputs(text, j->out);
}

void json_bool(struct json *j, const char *key, bool value)
{
    begin_value(j, key);
    fputs(value ? "true" : "false", j->out);
}

bool json_close(struct json *j)
{
    fputc('\n', j->out);
    if (j->misused || j->depth > 0) {
        errno = EINVAL;
        return false;
    }
    errno = 0;
    if (fflush(j->out) == 0 && !ferror(j->out))
        return true;
    if (errno == 0)
        errno = EIO;  // an earlier write failed; its reason is gone
    return false;
}
