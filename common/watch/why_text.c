// The reasons of why.h in words, and as JSON.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/source.h"
#include "base/text.h"
#include "inside.h"
#include "why.h"

// "warp 3", "warps 4 to 7", "warps 0, 4".
static void add_warps(struct text_end *t, uint32_t warps)
{
    const char *between = "";
    text_add(t, "warp%s ", warps & (warps - 1) ? "s" : "");
    for (uint32_t i = 0, to; i < WATCH_WARPS; i = to) {
        for (to = i; to < WATCH_WARPS && warps >> to & 1;)
            to++;
        if (to - i > 2)
            text_add(t, "%s%u to %u", between, i, to - 1);
        for (uint32_t k = i; to - i <= 2 && k < to; k++) {
            text_add(t, "%s%u", between, k);
            between = ", ";
        }
        between = to > i ? ", " : between;
        to += to == i;
    }
}

static void add_place(struct text_end *t, const struct watch *w, const struct watch_reason *r)
{
    if (r->line)
        text_add(t, " (%s:%u)", source_base_name(watch_file(w)), r->line);
}

// The line of an instruction, with its text.
static void add_line(struct text_end *t, const struct watch *w, const struct watch_reason *r)
{
    char text[120];
    struct simt_instruction in;
    source_text(watch_file(w), r->line, text, sizeof text);
    if (r->line)
        text_add(t, "%s:%u%s%s", source_base_name(watch_file(w)), r->line, *text ? "  " : "", text);
    else if (simt_instruction(watch_kernel(w), r->instruction, &in))
        text_add(t, "%.*s", (int)in.op_bytes, in.op);
}

static void add_object(struct text_end *t, const struct watch *w, const struct watch_reason *r)
{
    char name[WATCH_TEXT];
    if (r->wait == SIMT_FOR_MBARRIER) {
        watch_shared_text(w, r->at, name);
        text_add(t, "%s", name);
    } else if (r->wait == SIMT_FOR_BARRIER) {
        text_add(t, "barrier %u", r->at);
    } else {
        text_add(t, "%s", r->wait == SIMT_FOR_CLUSTER ? "the cluster's barrier" : "other lanes of their warp");
    }
}

static void say_wait(struct text_end *t, const struct watch *w, const struct watch_reason *r)
{
    add_warps(t, r->warps);
    text_add(t, " wait%s for ", r->warps & (r->warps - 1) ? "" : "s");
    add_object(t, w, r);
    if (r->wait == SIMT_FOR_MBARRIER)
        text_add(t, ", phase %u", r->parity);
    if (r->wait == SIMT_FOR_LANES)
        text_add(t, ": %d lane%s", __builtin_popcount(r->lanes), r->lanes & (r->lanes - 1) ? "s do" : " does");
    add_place(t, w, r);
    if (r->wait == SIMT_FOR_MBARRIER && !r->expected)
        text_add(t, ": it was never initialised");
    else if (r->wait == SIMT_FOR_MBARRIER && r->pending)
        text_add(t, ": %u of %u arrival%s %s missing", r->pending, r->expected, text_plural(r->expected),
                 r->pending == 1 ? "is" : "are");
    else if (r->wait == SIMT_FOR_MBARRIER)
        text_add(t, ": all arrivals have come, the bytes have not");
    else if (r->wait == SIMT_FOR_BARRIER && r->expected)
        text_add(t, ": %u of %u threads are missing", r->pending, r->expected);
}

static void say_lack(struct text_end *t, const struct watch *w, const struct watch_reason *r)
{
    add_object(t, w, r);
    text_add(t, r->warps ? " lacks " : " lacks all who come to it at ");
    if (r->warps) {
        add_warps(t, r->warps);
        if (r->lanes && !(r->lanes & (r->lanes - 1)))
            text_add(t, ", lane %d,", __builtin_ctz(r->lanes));
        text_add(t, " at ");
    }
    add_line(t, w, r);
}

static void say_bytes(struct text_end *t, const struct watch *w, const struct watch_reason *r)
{
    add_object(t, w, r);
    if (r->bytes > 0)
        text_add(t, " lacks %" PRId64 " bytes", r->bytes);
    else
        text_add(t, " has got %" PRId64 " bytes more than were expected", -r->bytes);
    text_add(t, r->instruction == UINT32_MAX ? ": no copy was asked for, and nobody said how many are to come" : ": ");
    if (r->instruction != UINT32_MAX)
        add_line(t, w, r);
}

static void say_stand(struct text_end *t, const struct watch *w, const struct watch_reason *r)
{
    add_warps(t, r->warps);
    const bool several = r->warps & (r->warps - 1);
    if (r->wait == SIMT_ENDED)
        text_add(t, several ? " have ended" : " has ended");
    else if (r->to != UINT32_MAX)
        text_add(t, several ? " wait themselves" : " waits itself");
    else
        text_add(t, several ? " have not come so far" : " has not come so far");
    add_place(t, w, r);
}

static void say_decision(struct text_end *t, const struct watch *w, const struct watch_reason *r)
{
    add_warps(t, r->warps);
    text_add(t, ", lane %d, went past it at ", __builtin_ctz(r->lanes));
    add_line(t, w, r);
    if (*r->condition)
        text_add(t, "  [%s]", r->condition);
}

static void say(struct text_end *t, const struct watch *w, const struct watch_reason *r)
{
    switch (r->kind) {
    case WATCH_WAITS:
        say_wait(t, w, r);
        return;
    case WATCH_LACKS:
        say_lack(t, w, r);
        return;
    case WATCH_NOBODY:
        text_add(t, "no instruction of the kernel arrives at ");
        add_object(t, w, r);
        text_add(t, ", which has %u arrival%s to a phase: ", r->expected, text_plural(r->expected));
        add_line(t, w, r);
        return;
    case WATCH_COUNT:
        text_add(t, "all who ever came to ");
        add_object(t, w, r);
        text_add(t, " have come, and it is for %u: ", r->expected);
        add_line(t, w, r);
        return;
    case WATCH_CAME:
        add_warps(t, r->warps);
        text_add(t, " came at ");
        add_line(t, w, r);
        return;
    case WATCH_BYTES:
        say_bytes(t, w, r);
        return;
    case WATCH_STANDS:
        say_stand(t, w, r);
        return;
    case WATCH_DECIDED:
        say_decision(t, w, r);
        return;
    case WATCH_PARITY:
        text_add(t, "nobody has come to ");
        add_object(t, w, r);
        text_add(t, " yet: a wait for phase %u would not wait", !r->parity);
        return;
    case WATCH_CIRCLE:
        add_warps(t, r->warps);
        text_add(t, " wait for each other");
        return;
    }
}

void watch_reason_text(const struct watch *w, const struct watch_reason *r, char text[WATCH_TEXT])
{
    struct text_end t = { text, WATCH_TEXT };
    *text = '\0';
    say(&t, w, r);
}

bool watch_why_json(struct watch *w, uint64_t moment, struct json *j, char error[DEV_ERROR_MAX])
{
    static const char *const kinds[] = { "waits", "lacks",  "nobody",  "count",  "came",
                                         "bytes", "stands", "decided", "parity", "circle" };
    struct watch_reason *all;
    char text[WATCH_TEXT];
    const size_t n = watch_why(w, moment, &all, error);
    if (!n && *error)
        return false;
    json_array(j, "why");
    for (size_t i = 0; i < n; i++) {
        json_object(j, NULL);
        json_string(j, "kind", kinds[all[i].kind]);
        json_uint(j, "of", all[i].of);
        json_uint(j, "warps", all[i].warps);
        if (all[i].instruction != UINT32_MAX)
            json_uint(j, "instruction", all[i].instruction);
        json_uint(j, "line", all[i].line);
        if (all[i].moment != WATCH_NONE)
            json_uint(j, "moment", all[i].moment);
        watch_reason_text(w, &all[i], text);
        json_string(j, "text", text);
        json_end(j);
    }
    json_end(j);
    free(all);
    return true;
}
