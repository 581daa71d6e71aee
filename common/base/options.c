// See options.h.
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "card.h"
#include "error.h"
#include "file.h"
#include "text.h"

enum { ROWS = 64, FIRST = 256, SHOWN = 64, LIST = 512 };  // FIRST: above every character, of which getopt has some

const struct option_word option_devices[] = { { "auto", DEV_AUTO }, { "gpu", DEV_GPU }, { "sim", DEV_SIM }, { 0 } };

// --- values ---

bool options_whole(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
    if (!*text || text[strspn(text, "0123456789")] != '\0')
        return false;
    errno = 0;
    uint64_t v = strtoull(text, NULL, 10);
    if (errno || v < min || v > max)
        return false;
    *value = v;
    return true;
}

bool options_real(const char *text, double min, double max, double *value)
{
    char *end;
    if (!*text || isspace((unsigned char)*text))
        return false;
    double v = strtod(text, &end);
    if (*end || !isfinite(v) || v < min || v > max)
        return false;
    *value = v;
    return true;
}

int options_numbers(const char *text, char separator, uint64_t min, uint64_t max, uint64_t value[3])
{
    for (int n = 0; n < 3; n++) {
        char number[24];
        const char *end = strchrnul(text, separator);
        if (end - text >= (ptrdiff_t)sizeof number)
            return 0;
        snprintf(number, sizeof number, "%.*s", (int)(end - text), text);
        if (!options_whole(number, min, max, &value[n]))
            return 0;
        if (!*end)
            return n + 1;
        text = end + 1;
    }
    return 0;
}

// MxNxK, or one number for all three.
static bool shape_of(const char *text, uint64_t most, int shape[3])
{
    uint64_t v[3];
    const int n = options_numbers(text, 'x', 1, most, v);
    for (int i = 0; i < 3 && n; i++)
        shape[i] = (int)v[n == 3 ? i : 0];
    return n == 1 || n == 3;
}

// A copy of text that fits in a message of one line: control characters become '?', a long one is cut.
static const char *shown(const char *text, char copy[SHOWN])
{
    snprintf(copy, SHOWN, "%s", text);
    if (strlen(text) > SHOWN - 1)
        memcpy(copy + SHOWN - 4, "...", 4);
    text_one_line(copy, '?');
    return copy;
}

bool options_shape(const char *text, int most, int shape[3], char error[DEV_ERROR_MAX])
{
    char copy[SHOWN];
    return shape_of(text, (uint64_t)most, shape) ||
           error_set(error, "\"%s\": must be MxNxK, or one number for all three, from 1 to %d", shown(text, copy),
                     most);
}

static bool refuse_path(const char *option, const char *path, char error[DEV_ERROR_MAX])
{
    char copy[SHOWN];
    return error_set(error, "%s \"%s\": cannot write it: %s", option, shown(path, copy), strerror(errno));
}

bool options_may_write(const char *option, const char *path, char error[DEV_ERROR_MAX])
{
    return !path || !strcmp(path, "-") || file_may_write(path) || refuse_path(option, path, error);
}

bool options_open_json(const char *path, FILE **out, char error[DEV_ERROR_MAX])
{
    *out = NULL;
    if (!path)
        return true;
    *out = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    return *out || refuse_path("--json", path, error);
}

// --- messages ---

// Adds a name to a list of n: ", " before it, or " or " before the last.
static void list_add(char list[LIST], int i, int n, const char *last, const char *name)
{
    const size_t length = strlen(list);
    snprintf(list + length, LIST - length, "%s%s", !i ? "" : i + 1 < n ? ", " : last, name);
}

// What a value must be.
static void must_be(const struct option_row *r, char list[LIST])
{
    int n = 0;
    while (r->words && r->words[n].word)
        n++;
    *list = '\0';
    for (int i = 0; i < n; i++)
        list_add(list, i, n, " or ", r->words[i].word);
    if (n)
        return;
    FILE *out = fmemopen(list, LIST, "w");
    if (r->must)
        fputs(r->must, out);
    else if (r->kind == OPTION_TEXT)
        fputs("at least one character", out);
    else if (r->kind == OPTION_CARD)
        for (unsigned i = 0; card_at(i); i++)
            fprintf(out, "%s%s", i ? ", " : "one of ", card_at(i)->name);
    else if (r->kind == OPTION_REAL && r->most)
        fprintf(out, "a number from %" PRIu64 " to %" PRIu64, r->least, r->most);
    else if (r->kind == OPTION_REAL)
        fputs("a finite number", out);
    else
        fprintf(out, "%s from %" PRIu64 " to %" PRIu64 "%s",
                r->kind == OPTION_THREE ? "up to three whole numbers" : "a whole number", r->least, r->most,
                r->kind == OPTION_THREE ? ", as in 4,2,1"
                : r->shape              ? ", digits alone, or three as MxNxK"
                                        : ", digits alone");
    fclose(out);
}

static unsigned distance(const char *a, size_t n, const char *b)
{
    unsigned row[SHOWN];  // of the first i of a to the first j of b: letters to add, leave out or change
    const size_t m = strlen(b);
    for (size_t j = 0; j <= m; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        unsigned before = row[0]++;
        for (size_t j = 1; j <= m; j++) {
            const unsigned changed = before + (a[i - 1] != b[j - 1]),
                           one = (row[j - 1] < row[j] ? row[j - 1] : row[j]) + 1;
            before = row[j];
            row[j] = changed < one ? changed : one;
        }
    }
    return row[m];
}

// The row whose name is nearest to the first n characters of name. NULL if none is near. A name that begins with them
// is.
static const struct option_row *nearest(const struct options *o, const char *name, size_t n)
{
    const struct option_row *found = NULL;
    unsigned least = (unsigned)n / 2 + 2;
    for (const struct option_row *r = o->rows; n && r->name; r++) {
        const unsigned d = strncmp(r->name, name, n) ? 1 + distance(name, n, r->name) : r->name[n] != '\0';
        if (d < least) {
            found = r;
            least = d;
        }
    }
    return found;
}

static bool has(const struct options *o, const struct option_row *r)
{
    return !r->only || !o->use || (r->only & o->use);
}

static bool refuse_unknown(const struct options *o, const char *word, char error[DEV_ERROR_MAX])
{
    char copy[SHOWN], near[SHOWN] = "", list[LIST] = "";
    const char *name = word + strspn(word, "-");
    const size_t n = strcspn(name, "=");
    const struct option_row *r = nearest(o, name, n);
    if (r && has(o, r))
        snprintf(near, sizeof near, "; did you mean --%s?", r->name);
    if (!r || has(o, r) || strlen(r->name) != n)
        return error_set(error, "unknown option \"%s\"%s%s --help lists the options", shown(word, copy), near,
                         *near ? "" : ";");
    for (int bit = 0, i = 0; r->only >> bit; bit++)
        if (r->only >> bit & 1)
            list_add(list, i++, __builtin_popcount(r->only), " and ", o->uses[bit]);
    return error_set(error, "--%s goes with %s; --help lists the options", r->name, list);
}

// What is wrong where getopt_long returned '?', or ':' because its short options begin with one.
static bool refuse(const struct options *o, int returned, const char *word, char error[DEV_ERROR_MAX])
{
    char copy[SHOWN];
    const char *name = optopt < FIRST ? NULL : o->rows[optopt - FIRST].name;
    if (returned == ':')
        return error_set(error, "--%s: needs a value; --help lists the options", name);
    if (name)
        return error_set(error, "\"%s\": --%s takes no value", shown(word, copy), name);
    return refuse_unknown(o, optopt ? (char[]){ '-', (char)optopt, '\0' } : word, error);
}

// --- the reader ---

static bool begins_with_no(const struct option_row *r)
{
    return !strncmp(r->name, "no-", 3);
}

static bool store_int(const struct option_row *r, const char *text, int *at)
{
    uint64_t v;
    const struct option_word *w = r->words;
    while (w && w->word && strcmp(text, w->word) != 0)
        w++;
    if (!text)
        *at = begins_with_no(r) ? -1 : 1;
    else if (w && w->word)
        *at = w->value;
    else if (!w && options_whole(text, r->least, r->most, &v))
        *at = (int)v;
    else
        return false;
    return true;
}

static bool store_three(const struct option_row *r, const char *text, unsigned at[3])
{
    uint64_t v[3] = { r->least, r->least, r->least };
    const bool good = options_numbers(text, ',', r->least, r->most, v);
    for (int i = 0; i < 3 && good; i++)
        at[i] = (unsigned)v[i];
    return good;
}

// False where the value is not what it must be.
static bool store(const struct option_row *r, const char *text, void *at)
{
    switch (r->kind) {
    case OPTION_OWN:
        return r->take(at, text);
    case OPTION_FLAG:
        *(bool *)at = !begins_with_no(r);
        return true;
    case OPTION_INT:
        return r->shape ? shape_of(text, r->most, at) : store_int(r, text, at);
    case OPTION_WHOLE:
        return options_whole(text, r->least, r->most, at);
    case OPTION_THREE:
        return store_three(r, text, at);
    case OPTION_REAL:
        return options_real(text, r->most ? (double)r->least : -DBL_MAX, r->most ? (double)r->most : DBL_MAX, at);
    case OPTION_TEXT:
        *(const char **)at = text;
        return *text;
    case OPTION_CARD:
        return (*(const struct card **)at = card_named(text));
    }
    return false;
}

static bool take(const struct option_row *r, const char *text, void *to, char error[DEV_ERROR_MAX])
{
    char copy[SHOWN], list[LIST];
    if (store(r, text, (char *)to + r->at))
        return true;
    must_be(r, list);
    return error_set(error, "--%s \"%s\": must be %s", r->name, shown(text, copy), list);
}

enum options_outcome options_read(const struct options *o, void *to, int *argc, char ***argv, char error[DEV_ERROR_MAX])
{
    struct option known[ROWS] = { { "help", no_argument, NULL, 'h' } };
    char copy[SHOWN];
    int n = 1;
    for (int i = 0; o->rows[i].name; i++)
        if (has(o, &o->rows[i]))
            known[n++] = (struct option){ o->rows[i].name, o->rows[i].argument != NULL, NULL, FIRST + i };
    opterr = 0;  // its messages are ours
    optind = 0;  // glibc: start afresh
    for (int id; (id = getopt_long(*argc, *argv, ":h", known, NULL)) != -1;) {
        if (id == 'h')
            return OPTIONS_HELP;
        if (!(id < FIRST ? refuse(o, id, (*argv)[optind - 1], error) : take(&o->rows[id - FIRST], optarg, to, error)))
            return OPTIONS_BAD;
    }
    *argc -= optind;
    *argv += optind;
    if (*argc >= o->least && *argc <= o->most)
        return OPTIONS_RUN;
    if (o->needs)
        error_set(error, "%s; --help lists the options", o->needs);
    else
        error_set(error, "\"%s\": not an option; --help lists the options", shown((*argv)[o->most], copy));
    return OPTIONS_BAD;
}

// "--size S"
static int left_of(const struct option_row *r, char left[SHOWN])
{
    return snprintf(left, SHOWN, "--%s%s%s", r->name, r->argument ? " " : "", r->argument ? r->argument : "");
}

static void print_row(const struct option_row *r, int width, FILE *out)
{
    char left[SHOWN];
    left_of(r, left);
    fprintf(out, "  %-*s  ", width, left);
    for (const char *c = r->help; *c; c++) {
        fputc(*c, out);
        if (*c == '\n')
            fprintf(out, "%*s", width + 4, "");
    }
    fputc('\n', out);
}

void options_help(const struct options *o, FILE *out)
{
    char left[SHOWN];
    int width = 0;
    for (const struct option_row *r = o->rows; r->name; r++) {
        const int n = has(o, r) ? left_of(r, left) : 0;
        width = n > width ? n : width;
    }
    fprintf(out, "usage: %s %s\n\n", o->program, o->usage);
    for (const struct option_row *r = o->rows; r->name; r++)
        if (has(o, r))
            print_row(r, width, out);
    print_row(&(struct option_row){ .name = "help", .help = "print this" }, width, out);
    if (o->notes)
        fprintf(out, "\n%s\n", o->notes);
}

bool options_begin(const struct options *o, void *to, int *argc, char ***argv, int *status)
{
    char error[DEV_ERROR_MAX];
    const enum options_outcome outcome = options_read(o, to, argc, argv, error);
    *status = 2;
    if (outcome == OPTIONS_BAD)
        fprintf(stderr, "%s: %s\n", o->program, error);
    if (outcome == OPTIONS_HELP) {
        options_help(o, stdout);
        *status = fflush(stdout) ? 2 : 0;
    }
    return outcome == OPTIONS_RUN;
}
