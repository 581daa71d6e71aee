// Watching a block of the run: the page's way to watch/watch.h. A moment is a number, and -1 stands for none.
#include <string.h>

#include "inside.h"
#include "lab.h"
#include "watch/watch.h"
#include "watch/why.h"

static struct watch *watch;

bool lab_watching(void)
{
    return watch;
}

void lab_watch_close(void)
{
    watch_close(watch);
    watch = NULL;
}

static double moment_or_none(uint64_t moment)
{
    return moment == WATCH_NONE ? -1 : (double)moment;
}

static void tell_sides(struct json *j, const struct watch_finding *f)
{
    json_array(j, "sides");
    for (const struct watch_side *s = f->sides; f->meets && s < f->sides + 2; s++) {
        json_object(j, NULL);
        json_uint(j, "warp", s->warp);
        json_uint(j, "lane", s->lane);
        json_uint(j, "instruction", s->instruction);
        json_double(j, "moment", moment_or_none(s->moment));
        json_end(j);
    }
    json_end(j);
}

static void tell_findings(struct json *j)
{
    struct watch_finding f;
    uint32_t first;
    json_array(j, "findings");
    for (uint32_t i = 0; watch_finding(watch, i, &f); i++) {
        json_object(j, NULL);
        json_double(j, "moment", moment_or_none(f.moment));
        json_uint(j, "block", f.block);
        json_uint(j, "warp", f.warp);
        json_uint(j, "lane", f.lane);
        json_uint(j, "line", watch_line(watch, f.instruction));
        json_string(j, "text", f.text);
        json_uint(j, "instruction", f.instruction);
        json_bool(j, "ends", f.ends);
        tell_sides(j, &f);
        json_end(j);
    }
    json_end(j);
    if (watch_first_finding(watch, &first))
        json_uint(j, "first", first);
}

const char *lab_watch(double block)
{
    struct lab_call call = { 0 };
    struct json j;
    lab_watch_close();
    if (!lab_call(&call) ||
        !(watch = watch_open(call.simt, call.kernel, call.launch, (uint64_t)block, lab_error_room())))
        return NULL;
    FILE *out = lab_text_begin(&j);
    if (!out)
        return NULL;
    json_uint(&j, "steps", watch_steps(watch));
    json_uint(&j, "warps", watch_warps(watch));
    tell_findings(&j);
    return lab_text_end(&j, out);
}

double lab_watch_next(double from, int stop, bool back, int warp, int number)
{
    const struct watch_search search = { .stop = (enum watch_stop)stop,
                                         .back = back,
                                         .warp = warp < 0 ? SIMT_ALL_WARPS : (uint32_t)warp,
                                         .number = (uint32_t)number };
    return watch ? moment_or_none(watch_next(watch, from < 0 ? WATCH_NONE : (uint64_t)from, &search)) : -1;
}

double lab_watch_execution(int finding)
{
    struct watch_finding f;
    if (!watch || !watch_finding(watch, (uint32_t)finding, &f) || f.moment == WATCH_NONE)
        return -1;
    const struct watch_search search = { .stop = WATCH_AT, .back = true, .warp = f.warp, .number = f.instruction };
    const struct watch_step step = watch_step(watch, f.moment);
    // A race may be found at the step of its other side: then it is the execution before.
    double n = step.warp == f.warp && step.instruction == f.instruction ? 0 : -1;
    for (uint64_t at = f.moment; (at = watch_next(watch, at, &search)) != WATCH_NONE;)
        n++;
    return n;
}

double lab_watch_line(double moment)
{
    return watch && moment >= 0 ? watch_step(watch, (uint64_t)moment).line : 0;
}

const char *lab_watch_at(double moment)
{
    struct json j;
    FILE *out = watch ? lab_text_begin(&j) : NULL;
    if (!out)
        return NULL;
    const bool ok = watch_json(watch, (uint64_t)moment, &j, lab_error_room());
    const char *text = lab_text_end(&j, out);
    return ok ? text : NULL;
}

const char *lab_watch_why(double moment)
{
    struct json j;
    FILE *out = watch ? lab_text_begin(&j) : NULL;
    if (!out)
        return NULL;
    const bool ok = watch_why_json(watch, (uint64_t)moment, &j, lab_error_room());
    const char *text = lab_text_end(&j, out);
    return ok ? text : NULL;
}

double lab_watch_made(double moment, int warp, int lane, const char *name)
{
    const int64_t number = watch ? simt_register_number(watch_kernel(watch), name) : -1;
    if (number < 0) {
        error_set(lab_error_room(), "there is no register %s", name);
        return -1;
    }
    return moment_or_none(
        watch_made(watch, (uint64_t)moment, (uint32_t)warp, (uint32_t)lane, (uint32_t)number, lab_error_room()));
}

double lab_watch_wrote(double moment, int at)
{
    struct watch_writer w;
    return watch && watch_wrote(watch, (uint64_t)moment, (uint32_t)at, &w, lab_error_room()) ? moment_or_none(w.asked)
                                                                                             : -1;
}
