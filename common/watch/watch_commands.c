// The commands of the watch in a terminal. See session.h.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/text.h"
#include "session.h"
#include "watch_show.h"
#include "why.h"

static bool go(struct session *s, uint64_t moment)
{
    if (moment == WATCH_NONE)
        return error_set(s->error, "there is no such step");
    s->at = moment;
    if (s->warp != SIMT_ALL_WARPS)
        s->warp = watch_step(s->watch, moment).warp;
    return show_step(s->watch, moment, s->out, s->error);
}

// Word i as a number; *out stays as it is if it is none.
static bool number(const struct session *s, uint32_t i, uint64_t *out)
{
    char *end;
    if (i >= s->n)
        return false;
    const uint64_t value = strtoull(s->word[i], &end, 0);
    if (end == s->word[i] || *end)
        return false;
    *out = value;
    return true;
}

// --- motions: [back] step [N], line [N], barrier ---

static bool move(struct session *s, uint32_t word, bool back)
{
    struct watch_search search = { .back = back, .warp = s->warp };
    const char *what = word < s->n ? s->word[word] : "step";
    uint64_t n = 1, moment = s->at;
    bool numbered = number(s, word, &n);  // alone, or behind what to look for
    if (!numbered)
        numbered = number(s, word + 1, &n);
    if (text_begins("line", what) || text_begins("barrier", what))
        search.stop = *what == 'b' ? WATCH_BARRIER : numbered ? WATCH_AT_LINE : WATCH_LINE;
    else if (!text_begins("step", what) && !number(s, word, &n))
        return error_set(s->error, "back: step, line, barrier, or a number of steps; not '%.100s'", what);
    search.number = (uint32_t)n;
    for (uint64_t i = 0; i < (search.stop == WATCH_STEP ? n : 1); i++) {
        const uint64_t next = watch_next(s->watch, moment, &search);
        if (next == WATCH_NONE && (search.stop != WATCH_STEP || !i))
            return error_set(s->error,
                             search.warp == SIMT_ALL_WARPS ? "there is no such step %s this one"
                                                           : "the warp has no such step %s this one",
                             back ? "before" : "behind");
        moment = next == WATCH_NONE ? moment : next;
    }
    return go(s, moment);
}

static bool forwards(struct session *s)
{
    return move(s, 0, false);
}

static bool backwards(struct session *s)
{
    return move(s, 1, true);
}

static bool go_to(struct session *s)
{
    uint64_t moment;
    if (!number(s, 1, &moment) || moment >= watch_steps(s->watch))
        return error_set(s->error, "go N: one of the %" PRIu64 " steps of the block, from 0 on", watch_steps(s->watch));
    return go(s, moment);
}

static bool to_start(struct session *s)
{
    const struct watch_search first = { .warp = s->warp };
    return go(s, watch_next(s->watch, WATCH_NONE, &first));
}

static bool to_end(struct session *s)
{
    const struct watch_search last = { .back = true, .warp = s->warp };
    return go(s, watch_next(s->watch, WATCH_NONE, &last));
}

// The warp's last step up to here, or its first.
static bool choose_warp(struct session *s)
{
    uint64_t warp;
    if (s->n > 1 && !strcmp(s->word[1], "all")) {
        s->warp = SIMT_ALL_WARPS;
        return go(s, s->at);
    }
    if (!number(s, 1, &warp) || warp >= watch_warps(s->watch))
        return error_set(s->error, "warp N: one of the %u warps of the block, or all", watch_warps(s->watch));
    struct watch_search search = { .back = true, .warp = (uint32_t)warp };
    s->warp = (uint32_t)warp;
    uint64_t to = watch_step(s->watch, s->at).warp == warp ? s->at : watch_next(s->watch, s->at, &search);
    search.back = false;
    return go(s, to != WATCH_NONE ? to : watch_next(s->watch, s->at, &search));
}

static bool choose_lane(struct session *s)
{
    uint64_t lane;
    if (!number(s, 1, &lane) || lane > 31)
        return error_set(s->error, "lane N: 0 to 31; who made and registers look at it");
    s->lane = (uint32_t)lane;
    return true;
}

// --- values ---

static uint32_t warp_here(const struct session *s)
{
    return watch_step(s->watch, s->at).warp;
}

static bool print(struct session *s)
{
    const char *as = s->n > 2 ? s->word[2] : NULL;
    uint32_t at;
    uint64_t count = 8;
    if (s->n < 2)
        return error_set(s->error, "print %%f1, print s[0], print s[0] f32: a register, or shared memory");
    if (as && !show_bytes(as))
        return error_set(s->error, "print as f16, f32, f64, u8, u16, u32, s32, u64, s64 or hex; not '%.100s'", as);
    if (*s->word[1] == '%')
        return show_register(s->watch, s->at, warp_here(s), s->word[1], as, s->out, s->error);
    as = as ? as : "hex";
    if (s->n > 3 && !number(s, 3, &count))
        return error_set(s->error, "print s[0] f32 64: how many values; not '%.100s'", s->word[3]);
    return watch_shared_named(s->watch, s->word[1], show_bytes(as), &at, s->error) &&
           show_shared(s->watch, s->at, at, as, (uint32_t)count, s->out, s->error);
}

static bool registers(struct session *s)
{
    return show_registers(s->watch, s->at, warp_here(s), s->lane, s->out, s->error);
}

static bool who_made(struct session *s)
{
    const int64_t reg = simt_register_number(s->kernel, s->word[2]);
    if (reg < 0)
        return error_set(s->error, "the kernel has no register %.100s", s->word[2]);
    const uint64_t made = watch_made(s->watch, s->at, warp_here(s), s->lane, (uint32_t)reg, s->error);
    return made != WATCH_NONE && go(s, made);
}

static bool who_wrote(struct session *s)
{
    struct watch_writer who;
    uint32_t at;
    char place[WATCH_TEXT];
    const char *as = s->n > 3 ? s->word[3] : "u32";
    if (!show_bytes(as) || !watch_shared_named(s->watch, s->word[2], show_bytes(as), &at, s->error))
        return show_bytes(as) ? false : error_set(s->error, "there is no type '%.100s'", as);
    if (!watch_wrote(s->watch, s->at, at, &who, s->error))
        return false;
    watch_shared_text(s->watch, at, place);
    fprintf(s->out, "%s was written by thread %u (warp %u, lane %u) at ", place, who.thread, who.thread / 32,
            who.thread % 32);
    show_place(s->watch, who.instruction, s->out);
    if (who.came != who.asked)
        fprintf(s->out, "; its bytes came with step %" PRIu64, who.came);
    fputc('\n', s->out);
    return go(s, who.asked);
}

static bool who(struct session *s)
{
    uint32_t at;
    const char *verb = s->n > 2 ? s->word[1] : "";
    if (!strcmp(verb, "made"))
        return who_made(s);
    if (!strcmp(verb, "wrote"))
        return who_wrote(s);
    if (strcmp(verb, "came") != 0)
        return error_set(s->error, "who made %%f1, who wrote s[0], who came full[0]");
    if (!watch_shared_named(s->watch, s->word[2], 8, &at, s->error))
        return false;
    show_arrivals(s->watch, s->at, at, s->out);
    return true;
}

// --- what there is to see ---

static bool warps(struct session *s)
{
    return show_warps(s->watch, s->at, s->out, s->error);
}

static bool barriers(struct session *s)
{
    return show_barriers(s->watch, s->at, s->out, s->error);
}

static bool copies(struct session *s)
{
    return show_copies(s->watch, s->at, s->out, s->error);
}

// matrix [D] [COLUMN] [lanes]
static bool matrix(struct session *s)
{
    uint64_t column = 0;
    bool by_lane = false;
    char name = 0;
    for (uint32_t i = 1; i < s->n; i++) {
        const char *word = s->word[i];
        if (!word[1] && strchr("ABCDabcd", *word))
            name = (char)(*word >= 'a' ? *word - 'a' + 'A' : *word);
        else if (text_begins("lanes", word))
            by_lane = true;
        else if (!number(s, i, &column))
            return error_set(s->error, "matrix [A|B|C|D] [COLUMN] [lanes]; not '%.100s'", word);
    }
    return show_matrices(s->watch, s->at, name, (uint32_t)column, by_lane, s->out, s->error);
}

static bool list(struct session *s)
{
    show_source(s->watch, s->at, s->out);
    return true;
}

static bool here(struct session *s)
{
    return go(s, s->at);
}

// What explains a reason stands behind it, further to the right.
static bool explain(struct session *s, size_t *n)
{
    struct watch_reason *all;
    char text[WATCH_TEXT];
    *n = watch_why(s->watch, s->at, &all, s->error);
    if (!*n && *s->error)
        return false;
    for (size_t i = 0; i < *n; i++) {
        uint32_t depth = 0;
        for (uint32_t k = (uint32_t)i; all[k].of != k; k = all[k].of)
            depth++;
        watch_reason_text(s->watch, &all[i], text);
        fprintf(s->out, "%*s%s\n", 2 * (int)depth, "", text);
    }
    free(all);
    return true;
}

static bool why(struct session *s)
{
    size_t n;
    if (!explain(s, &n))
        return false;
    if (!n)
        fputs("no warp waits here\n", s->out);
    return true;
}

// --- findings ---

static void print_finding(const struct session *s, uint32_t i, const struct watch_finding *f)
{
    fprintf(s->out, "%sfinding %u: %s\n", f->advice ? "advice, " : "", i + 1, f->text);
    if (f->moment == WATCH_NONE)
        fprintf(s->out, "    in block %" PRIu64 ": finding %u goes there\n", f->block, i + 1);
}

static bool open_block(struct session *s, uint64_t block)
{
    struct watch *w = watch_open(s->simt, s->kernel, s->launch, block, s->error);
    if (!w)
        return false;
    watch_close(s->watch);
    s->watch = w;
    s->at = 0;
    s->warp = watch_step(w, 0).warp;
    return true;
}

static bool to_finding(struct session *s, uint32_t i)
{
    struct watch_finding f;
    size_t n;
    if (!watch_finding(s->watch, i, &f))
        return error_set(s->error, "there is no finding %u", i + 1);
    if (f.block != watch_block(s->watch) && !(open_block(s, f.block) && watch_finding(s->watch, i, &f)))
        return false;
    print_finding(s, i, &f);
    s->warp = f.warp;
    s->stuck = f.ends;
    return go(s, f.moment) && (!f.ends || explain(s, &n));
}

static bool findings(struct session *s)
{
    struct watch_finding f;
    uint64_t i = 0;
    if (number(s, 1, &i))
        return i > 0 ? to_finding(s, (uint32_t)i - 1) : error_set(s->error, "findings are counted from 1 on");
    for (; watch_finding(s->watch, (uint32_t)i, &f); i++)
        print_finding(s, (uint32_t)i, &f);
    if (!i)
        fputs("nothing was found wrong\n", s->out);
    return true;
}

// Another block: its number, or x,y,z.
static bool choose_block(struct session *s)
{
    uint64_t at[3] = { 0 };
    const uint64_t x = s->launch->grid[0] ? s->launch->grid[0] : 1, y = s->launch->grid[1] ? s->launch->grid[1] : 1;
    if (s->n < 2 || !options_numbers(s->word[1], ',', 0, UINT32_MAX, at))
        return error_set(s->error, "block N or block X,Y,Z; not '%.100s'", s->n < 2 ? "" : s->word[1]);
    return open_block(s, at[0] + x * (at[1] + y * at[2])) && go(s, 0);
}

static bool quit(struct session *s)
{
    s->done = true;
    return true;
}

static bool help(struct session *s);

static const struct command {
    const char *name, *takes, *does;
    bool (*run)(struct session *s);
} commands[] = {
    { "step", "[N]", "the warp's next step (an instruction), or the N-th next", forwards },
    { "line", "[N]", "its next step of another line; or at line N", forwards },
    { "barrier", "", "its next step at a barrier, or at a wait for copies or products", forwards },
    { "back", "[N|line [N]|barrier]", "the same, backwards", backwards },
    { "go", "N", "step N of the block", go_to },
    { "start", "", "the warp's first step", to_start },
    { "end", "", "and its last", to_end },
    { "here", "", "print the step again", here },
    { "warp", "N|all", "look at warp N from here on; or at the steps of all", choose_warp },
    { "lane", "N", "the lane that who made and registers ask about (0 at first)", choose_lane },
    { "block", "N|X,Y,Z", "look at another block", choose_block },
    { "print", "%f1|s[0] [TYPE [COUNT]]", "a register of the warp, lane by lane; or shared memory", print },
    { "registers", "", "what the lane's registers hold, the last written first", registers },
    { "who", "made %f1|wrote s[0]|came full[0]",
      "go to the step that made a register's value, or wrote there; or list who came to an mbarrier", who },
    { "matrix", "[A|B|C|D] [COLUMN] [lanes]", "matrices in registers: values, or which lane and register has them",
      matrix },
    { "warps", "", "where the lanes of all warps stand", warps },
    { "barriers", "", "barriers and mbarriers, and who is missing there", barriers },
    { "copies", "", "groups of copies that threads have open, and copies by TMA under way", copies },
    { "list", "", "the source around the step", list },
    { "why", "", "why warps wait: for whom, and what keeps him", why },
    { "findings", "[N]", "what the launch was found to do wrong; go to finding N", findings },
    { "help", "", "this list", help },
    { "quit", "", "end", quit },
};

static bool help(struct session *s)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(s->out, "%-8s %-32s %s\n", commands[i].name, commands[i].takes, commands[i].does);
    fputs("Beginnings of names do; an empty line repeats the last command. A step is counted over all warps.\n",
          s->out);
    return true;
}

// --- the session ---

static void split(struct session *s)
{
    s->n = 0;
    for (char *save, *word = strtok_r(s->line, " \t\r\n", &save); word && s->n < SESSION_WORDS;
         word = strtok_r(NULL, " \t\r\n", &save))
        s->word[s->n++] = word;
    s->word[s->n] = NULL;
}

bool session_obey(struct session *s, const char *command)
{
    snprintf(s->line, sizeof s->line, "%s", command);
    split(s);
    *s->error = '\0';
    for (size_t i = 0; i < sizeof commands / sizeof *commands && s->n; i++)
        if (text_begins(commands[i].name, s->word[0]))
            return commands[i].run(s);
    return !s->n || error_set(s->error, "there is no command '%.100s': help lists them", s->word[0]);
}

bool session_begin(struct session *s, const struct watch_begin *b)
{
    uint32_t first;
    const struct watch_search search = { .stop = b->line ? WATCH_AT_LINE : WATCH_STEP,
                                         .warp = b->warp,
                                         .number = b->line };
    if (b->finding)
        return to_finding(s, b->finding - 1);
    if (!b->place && watch_first_finding(s->watch, &first))
        return to_finding(s, first);
    return go(s, watch_next(s->watch, WATCH_NONE, &search));
}

bool session_open(struct session *s, const struct watch_begin *begin)
{
    s->warp = begin->warp;
    if (!open_block(s, begin->block))
        return false;
    if (begin->warp == SIMT_ALL_WARPS)
        s->warp = watch_step(s->watch, 0).warp;
    return true;
}
