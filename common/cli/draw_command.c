// See draw_command.h.
#include "draw_command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/options.h"

bool draw_take_block(void *block, const char *value)
{
    memset(block, 0, 3 * sizeof(uint64_t));
    return options_numbers(value, ',', 0, INT32_MAX, block);
}

// "N", or "FILE:N".
bool draw_take_line(void *place, const char *value)
{
    struct simt_picture *p = place;
    const char *colon = strrchr(value, ':');
    uint64_t line;
    if (colon == value || !options_whole(colon ? colon + 1 : value, 1, INT32_MAX, &line))
        return false;
    p->file = colon ? value : NULL;
    p->file_length = colon ? (size_t)(colon - value) : 0;
    p->line = (unsigned)line;
    return true;
}

// "A-B", both whole numbers; A alone is A-A.
static bool range(const char *text, uint64_t *from, uint64_t *to)
{
    uint64_t v[3];
    const int n = options_numbers(text, '-', 0, INT32_MAX, v);
    if (n != 1 && n != 2)
        return false;
    *from = v[0];
    *to = v[n - 1];
    return *from <= *to;
}

bool draw_take_cycles(void *cycles, const char *value)
{
    struct simt_cycles *c = cycles;
    return range(value, &c->from, &c->to) && c->from < c->to && c->to - c->from <= SIMT_CYCLES_MOST;
}

bool draw_take_warps(void *cycles, const char *value)
{
    struct simt_cycles *c = cycles;
    c->some_warps = true;
    return range(value, &c->first_warp, &c->last_warp);
}

static const char *wrong_fragment(const struct draw_command *d, const char *file)
{
    const bool place = d->place.line || d->place.nth || d->place.execution || d->place.global;
    return d->fragment.operand && (file || place)  ? "--fragment takes no PTX file and no place in one"
           : d->fragment.operand && d->place.view  ? "--fragment is a picture of its own"
           : d->fragment.operand                   ? NULL
           : d->fragment.shape || d->fragment.type ? "--shape and --type go with --fragment"
                                                   : NULL;
}

static const char *wrong_launch(const struct draw_command *d, int views, const char *file)
{
    const bool by_line = d->place.view == SIMT_DRAW_ACCESS || d->place.view == SIMT_DRAW_BITS;
    return !file ? "draw what? A PTX file and a kernel, or --fragment"
           : d->in_cycles && d->place.view != SIMT_DRAW_TIMELINE
               ? "--cycles, --trips, --outer and --warps go with --timeline"
           : d->cycles.to && (d->cycles.trips || d->cycles.outer)
               ? "--cycles says itself what is shown: no --trips, no --outer"
           : views > 1                 ? "one picture at a time: --tiles, --walk, --timeline or --bits"
           : by_line && !d->place.line ? "which source line? --line N"
           : d->place.execution && d->place.view != SIMT_DRAW_ACCESS ? "--execution goes with an access"
           : !by_line && (d->place.line || d->place.nth || d->place.global)
               ? "--line, --nth and --global go with an access, or with --bits"
               : NULL;
}

bool draw_ready(struct draw_command *d, const char *file, char error[DEV_ERROR_MAX])
{
    int views = 0;
    for (int i = 0; i <= SIMT_DRAW_BITS; i++)
        if (d->views[i]) {
            d->place.view = (enum simt_view)i;
            views++;
        }
    d->place.large = d->fragment.large = d->cycles.large = d->large;
    d->in_cycles = d->cycles.to || d->cycles.trips || d->cycles.outer || d->cycles.some_warps;
    const char *wrong = wrong_fragment(d, file);
    if (!wrong && !d->fragment.operand)
        wrong = wrong_launch(d, views, file);
    if (!wrong && !d->out)
        wrong = "where to? --out F.svg, or - for standard output";
    return !wrong || error_set(error, "%s (see simt --help)", wrong);
}

bool draw_write(const struct draw_command *d, const char *svg, char error[DEV_ERROR_MAX])
{
    const bool standard = !strcmp(d->out, "-");
    errno = 0;
    FILE *f = standard ? stdout : fopen(d->out, "w");
    bool ok = f && fputs(svg, f) >= 0 && !fflush(f) && !ferror(f);
    if (f && !standard && fclose(f))
        ok = false;
    if (ok && !standard)
        printf("%s is drawn\n", d->out);
    if (!ok)
        snprintf(error, DEV_ERROR_MAX, "%.300s: %s", standard ? "standard output" : d->out,
                 strerror(errno ? errno : EIO));
    return ok;
}
