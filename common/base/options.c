// See options.h.
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "card.h"
#include "text.h"

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

bool options_device(const char *text, enum dev_kind *kind)
{
    static const char *const names[] = { [DEV_AUTO] = "auto", [DEV_GPU] = "gpu", [DEV_SIM] = "sim" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) == 0) {
            *kind = (enum dev_kind)i;
            return true;
        }
    }
    return false;
}

const char *options_shown(const char *text, char copy[OPTIONS_SHOWN])
{
    snprintf(copy, OPTIONS_SHOWN, "%s", text);
    if (strlen(text) > OPTIONS_SHOWN - 1)
        memcpy(copy + OPTIONS_SHOWN - 4, "...", 4);
    text_one_line(copy, '?');
    return copy;
}

void options_refuse(int returned, const char *word, const struct option *known, char error[DEV_ERROR_MAX])
{
    char copy[OPTIONS_SHOWN];
    const char *name = NULL;
    for (const struct option *k = known; k->name; k++)
        if (k->val == optopt)
            name = k->name;
    if (returned == ':')
        snprintf(error, DEV_ERROR_MAX, "--%s: needs a value; --help lists the options", name ? name : "?");
    else if (name)
        snprintf(error, DEV_ERROR_MAX, "\"%s\": --%s takes no value", options_shown(word, copy), name);
    else if (optopt > 0 && optopt < 256)
        snprintf(error, DEV_ERROR_MAX, "unknown option \"-%c\"; --help lists the options",
                 iscntrl(optopt) ? '?' : optopt);
    else
        snprintf(error, DEV_ERROR_MAX, "unknown option \"%s\"; --help lists the options", options_shown(word, copy));
}

bool options_card(const char *text, const struct card **card, char error[DEV_ERROR_MAX])
{
    char copy[OPTIONS_SHOWN], why[DEV_ERROR_MAX];
    *card = card_find(text, why);
    if (!*card)
        snprintf(error, DEV_ERROR_MAX, "--card \"%s\": %.300s", options_shown(text, copy), why);
    return *card;
}

bool options_open_json(const char *path, FILE **out, char error[DEV_ERROR_MAX])
{
    char copy[OPTIONS_SHOWN];
    *out = NULL;
    if (!path)
        return true;
    *out = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    if (!*out)
        snprintf(error, DEV_ERROR_MAX, "--json \"%s\": cannot write it: %s", options_shown(path, copy),
                 strerror(errno));
    return *out != NULL;
}
