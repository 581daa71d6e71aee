// See draw_command.h.
#include "draw_command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/options.h"

// Reads the whole number that ends before one of the characters in ends, or with the text. Returns what follows it;
// NULL if there is no such number.
static const char *number_before(const char *text, const char *ends, uint64_t *out)
{
    char number[24];
    const size_t n = strcspn(text, ends);
    if (n >= sizeof number)
        return NULL;
    memcpy(number, text, n);
    number[n] = '\0';
    return options_whole(number, 0, INT32_MAX, out) ? text + n : NULL;
}

// "X,Y,Z"; missing numbers are 0.
static bool block_index(const char *text, uint64_t out[3])
{
    out[0] = out[1] = out[2] = 0;
    for (int i = 0; i < 3; i++) {
        text = number_before(text, ",", &out[i]);
        if (!text)
            return false;
        if (!*text)
            return true;
        text++;
    }
    return false;
}

// "N", or "FILE:N".
static bool source_place(const char *text, struct simt_picture *p)
{
    const char *colon = strrchr(text, ':');
    uint64_t line;
    if (colon == text || !options_whole(colon ? colon + 1 : text, 1, INT32_MAX, &line))
        return false;
    p->file = colon ? text : NULL;
    p->file_length = colon ? (size_t)(colon - text) : 0;
    p->line = (unsigned)line;
    return true;
}

// --tiles and its like.
static bool draw_named(struct draw_command *d, const char *name)
{
    static const char *const views[] = { [SIMT_DRAW_TILES] = "tiles",
                                         [SIMT_DRAW_WALK] = "walk",
                                         [SIMT_DRAW_TIMELINE] = "timeline",
                                         [SIMT_DRAW_BITS] = "bits" };
    for (int i = SIMT_DRAW_TILES; i <= SIMT_DRAW_BITS; i++)
        if (!strcmp(name, views[i]))
            d->place.view = (enum simt_view)i;
    d->views++;
    return true;
}

// "A-B", both whole numbers; A alone is A-A.
static bool range(const char *text, uint64_t *from, uint64_t *to)
{
    const char *rest = number_before(text, "-", from);
    if (!rest)
        return false;
    *to = *from;
    return !*rest || options_whole(rest + 1, *from, INT32_MAX, to);
}

static bool is_cycles_option(const char *name)
{
    return !strcmp(name, "cycles") || !strcmp(name, "trips") || !strcmp(name, "outer") || !strcmp(name, "warps");
}

static bool cycles_option(struct draw_command *d, const char *name, const char *value)
{
    struct simt_cycles *asked = &d->cycles;
    d->in_cycles = true;
    if (!strcmp(name, "cycles"))
        return range(value, &asked->from, &asked->to) && asked->from < asked->to &&
               asked->to - asked->from <= SIMT_CYCLES_MOST;
    if (!strcmp(name, "trips"))
        return options_whole(value, 1, 1000, &asked->trips);
    if (!strcmp(name, "warps")) {
        d->cycles.some_warps = true;
        return range(value, &d->cycles.first_warp, &d->cycles.last_warp);
    }
    asked->outer = true;
    return true;
}

bool draw_option(struct draw_command *d, const char *name, const char *value)
{
    d->given = true;
    if (is_cycles_option(name))
        return cycles_option(d, name, value);
    if (!strcmp(name, "line"))
        return source_place(value, &d->place);
    if (!strcmp(name, "nth"))
        return options_whole(value, 0, INT32_MAX, &d->place.nth);
    if (!strcmp(name, "warp"))
        return options_whole(value, 0, INT32_MAX, &d->place.warp);
    if (!strcmp(name, "block-index"))
        return block_index(value, d->place.block);
    if (!strcmp(name, "global")) {
        d->place.global = true;
        return true;
    }
    if (!strcmp(name, "large")) {
        d->place.large = true;
        d->fragment.large = true;
        d->cycles.large = true;
        return true;
    }
    if (!value)
        return draw_named(d, name);
    const char **to = !strcmp(name, "out")        ? &d->out
                      : !strcmp(name, "fragment") ? &d->fragment.operand
                      : !strcmp(name, "shape")    ? &d->fragment.shape
                                                  : &d->fragment.type;
    *to = value;
    return *value != '\0';
}

static const char *wrong_fragment(const struct draw_command *d, const char *file)
{
    const bool place = d->place.line || d->place.nth || d->place.global;
    return d->fragment.operand && (file || place)  ? "--fragment takes no PTX file and no place in one"
           : d->fragment.operand && d->place.view  ? "--fragment is a picture of its own"
           : d->fragment.operand                   ? NULL
           : d->fragment.shape || d->fragment.type ? "--shape and --type go with --fragment"
                                                   : NULL;
}

static const char *wrong_launch(const struct draw_command *d, const char *file)
{
    const bool by_line = d->place.view == SIMT_DRAW_ACCESS || d->place.view == SIMT_DRAW_BITS;
    return !file ? "draw what? A PTX file and a kernel, or --fragment"
           : d->in_cycles && d->place.view != SIMT_DRAW_TIMELINE
               ? "--cycles, --trips, --outer and --warps go with --timeline"
           : d->cycles.to && (d->cycles.trips || d->cycles.outer)
               ? "--cycles says itself what is shown: no --trips, no --outer"
           : d->views > 1              ? "one picture at a time: --tiles, --walk, --timeline or --bits"
           : by_line && !d->place.line ? "which source line? --line N"
           : !by_line && (d->place.line || d->place.nth || d->place.global)
               ? "--line, --nth and --global go with an access, or with --bits"
               : NULL;
}

bool draw_ready(const struct draw_command *d, const char *file, char error[DEV_ERROR_MAX])
{
    const char *wrong = wrong_fragment(d, file);
    if (!wrong && !d->fragment.operand)
        wrong = wrong_launch(d, file);
    if (!wrong && !d->out)
        wrong = "where to? --out F.svg, or - for standard output";
    if (wrong)
        snprintf(error, DEV_ERROR_MAX, "%s (see simt --help)", wrong);
    return !wrong;
}

bool draw_write(const struct draw_command *d, const char *svg, char error[DEV_ERROR_MAX])
{
    const bool standard = !strcmp(d->out, "-");
    errno = 0;
    FILE *f = standard ? stdout : fopen(d->out, "w");
    bool ok = f && fputs(svg, f) >= 0 && !fflush(f) && !ferror(f);
    if (f && !standard && fclose(f))
        ok = false;
    if (!ok)
        snprintf(error, DEV_ERROR_MAX, "%.300s: %s", standard ? "standard output" : d->out,
                 strerror(errno ? errno : EIO));
    return ok;
}
