// Pictures of an access: panels of 32 columns, each a word of 4 bytes wide. In shared memory the columns are banks, the
// rows wavefronts, and a panel is a phase (cost.h); in global memory the rows are lines of 128 bytes, and a panel is a
// request.
#include "draw.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/text.h"
#include "base/svg.h"
#include "simt/record/trace.h"

#define WIDTH 1200
#define MARGIN 24
#define LEFT 124   // where the columns begin
#define CELL 33    // width of a column
#define TALL 30    // height of a wavefront's row
#define SHORT 22   // height of a line's row
#define LARGE 38   // height of either in large type
#define FEW 8      // as many lines are shown in large type
#define SECTOR 32  // bytes
#define LINE 128

struct picture {
    struct svg svg;
    const struct draw_subject *subject;
    const struct trace_event *event;
    double y;
    uint64_t base;    // addresses are shown from here
    char where[200];  // what begins there
    uint32_t waves;   // drawn so far
    struct shared_cost cost;
    uint32_t sectors;
    bool brief;  // some cell names its lanes as "0+7"
    bool large;
};

static bool is_matrix(const struct trace_event *e)
{
    return e->kind == TRACE_LDMATRIX || e->kind == TRACE_STMATRIX;
}

static bool is_load(const struct trace_event *e)
{
    return e->kind == TRACE_LOAD || e->kind == TRACE_LDMATRIX;
}

static void narrow(const struct trace_access *a, uint32_t address[LANES])
{
    for (int i = 0; i < LANES; i++)
        address[i] = (uint32_t)a->address[i];
}

// The lanes that ask for bytes of the word.
static uint32_t lanes_at(const struct trace_access *a, uint32_t lanes, uint64_t word)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < LANES; i++)
        if (lanes >> i & 1 && a->address[i] / 4 <= word && (a->address[i] + a->bytes - 1) / 4 >= word)
            found |= 1u << i;
    return found;
}

// --- what the numbers are ---

// The variable or allocation that all lanes are in; of another block of the cluster, too.
static void find_base(struct picture *p)
{
    const struct trace_event *e = p->event;
    const struct code *c = p->subject->code;
    uint64_t low = UINT64_MAX, high = 0;
    for (uint32_t i = 0; i < e->n; i++) {
        for (uint32_t lanes = e->access[i].mask; lanes; lanes &= lanes - 1) {
            const uint64_t at = e->access[i].address[__builtin_ctz(lanes)];
            low = at < low ? at : low;
            high = at > high ? at : high;
        }
    }
    const char *where = e->space == SPACE_SHARED ? "shared memory" : "global memory";
    char of_block[40] = "";
    const uint64_t other = e->space == SPACE_SHARED && low / TRACE_OTHER == high / TRACE_OTHER ? low / TRACE_OTHER : 0;
    if (e->space == SPACE_GLOBAL && low >> MEMORY_SHIFT == high >> MEMORY_SHIFT &&
        low >> MEMORY_SHIFT < p->subject->memory->count) {
        p->base = low & ~MEMORY_OFFSET;
        where = p->subject->memory->all[low >> MEMORY_SHIFT].name;
    }
    for (uint32_t i = 0; e->space == SPACE_SHARED && i < c->n_shared_vars; i++) {
        const struct shared_var *v = &c->shared_vars[i];
        const uint64_t at = other * TRACE_OTHER + v->at;
        if (at > low || (v->bytes && high >= at + v->bytes))
            continue;
        p->base = at;
        where = v->name;
    }
    if (other)
        snprintf(of_block, sizeof of_block, " of block %u of the cluster", (unsigned)other - 1);
    if (other && !p->base)
        p->base = other * TRACE_OTHER;
    snprintf(p->where, sizeof p->where, "%.150s%s", where, of_block);
}

static void add_up(struct picture *p)
{
    const struct trace_event *e = p->event;
    for (uint32_t i = 0; i < e->n; i++) {
        const struct trace_access *a = &e->access[i];
        uint32_t address[LANES];
        narrow(a, address);
        struct shared_cost cost = is_matrix(e) ? cost_matrices(address, (uint32_t)__builtin_popcount(a->mask) / 8)
                                               : cost_shared(address, a->mask, a->bytes, is_load(e));
        p->cost.waves += cost.waves;
        p->cost.conflicts += cost.conflicts;
        p->cost.ideal += cost.ideal;
        p->sectors += cost_sectors(a->address, a->mask);
    }
}

// --- parts of a picture ---

static void heading(struct picture *p, const char *text)
{
    p->y += p->large ? 38 : 30;
    svg_text(&p->svg, MARGIN, p->y, p->large ? "large big" : "big", "%s", text);
}

static double row_height(const struct picture *p, bool tall)
{
    return p->large ? LARGE : tall ? TALL : SHORT;
}

// Column numbers, under which the rows begin.
static void columns(struct picture *p, const char *what, const char *format, unsigned step, const uint32_t wanted[32])
{
    p->y += p->large ? 26 : 18;
    svg_text(&p->svg, LEFT - 12, p->y, p->large ? "label dim end" : "small dim end", "%s", what);
    for (unsigned i = 0; i < 32; i++) {
        char class[40];
        snprintf(class, sizeof class, "code %s %s mid", p->large ? "label" : "small",
                 wanted && wanted[i] > 1 ? "bad" : "dim");
        if (!p->large || step == 1 || i % 8 == 0)
            svg_text(&p->svg, LEFT + (i + 0.5) * CELL, p->y, class, format, i * step);
    }
    p->y += 6;
}

// "0+31" and "24-31" are too wide for one line.
static void large_lanes(struct picture *p, double middle, const char *text)
{
    size_t first = strcspn(text, "+\xe2");
    if (strlen(text) <= 2) {
        svg_text(&p->svg, middle, p->y + 26, "code large big ink mid", "%s", text);
        return;
    }
    first += (unsigned char)text[first] == 0xe2 ? 3 : 0;  // a dash ends the first line
    svg_text(&p->svg, middle, p->y + 17, "code label big ink mid", "%.*s", (int)first, text);
    svg_text(&p->svg, middle, p->y + 34, "code label big ink mid", "%s", text + first);
}

static void cell(struct picture *p, const struct trace_access *a, uint32_t lanes, unsigned column, uint64_t word,
                 bool tall, bool late)
{
    char text[LANES_TEXT], class[16];
    const double height = row_height(p, tall);
    const uint32_t who = lanes_at(a, lanes, word);
    const double x = LEFT + column * CELL, middle = x + CELL / 2.0;
    const unsigned long long byte = word * 4 - p->base;
    snprintf(class, sizeof class, "l%d", __builtin_ctz(who) % 8);
    svg_group(&p->svg, "cell", "bytes %llu to %llu of %s: lane%s %s", byte, byte + 3, p->where,
              text_plural(who & (who - 1) ? 2 : 1), svg_lanes(who, false, text));
    svg_rect(&p->svg, x + 1, p->y + 1, CELL - 2, height - 2, class);
    if (late)
        svg_rect(&p->svg, x + 2, p->y + 2, CELL - 4, height - 4, "clash");
    svg_lanes(who, true, text);
    p->brief |= strchr(text, '+') != NULL;
    if (p->large)
        large_lanes(p, middle, text);
    else
        svg_text(&p->svg, middle, p->y + (tall ? 14 : 15),
                 strlen(text) > 4 ? "code unit big ink mid" : "code small big ink mid", "%s", text);
    if (tall && !p->large)
        svg_text(&p->svg, middle, p->y + 25, "code tiny ink mid", "%llu", byte);
    svg_end(&p->svg);
}

// Of the phases that an access of this width has: those of the first and the last of these lanes, from 1 on.
struct phases {
    unsigned first, last, all;
};

static struct phases phases_of(const struct trace_access *a, uint32_t lanes)
{
    const unsigned width = a->bytes <= 4 ? 32 : a->bytes == 8 ? 16 : 8;
    const unsigned last = lanes ? 31u - (unsigned)__builtin_clz(lanes) : 0;
    return (struct phases){ (lanes ? (unsigned)__builtin_ctz(lanes) : 0) / width + 1, last / width + 1, 32 / width };
}

// Are these the lanes of two phases?
static bool merged(const struct trace_access *a, uint32_t lanes)
{
    const struct phases p = phases_of(a, lanes);
    return p.first != p.last;
}

static void name_phases(const struct trace_access *a, uint32_t lanes, char *text, size_t room)
{
    const struct phases p = phases_of(a, lanes);
    if (p.first != p.last)
        snprintf(text, room, "phases %u and %u of %u", p.first, p.last, p.all);
    else
        snprintf(text, room, "phase %u of %u", p.first, p.all);
}

// One phase: its passes, and in each the words that the banks deliver.
static void phase(struct picture *p, const struct trace_access *a, uint32_t lanes, const char *name)
{
    char text[LANES_TEXT], title[300];
    uint32_t address[LANES];
    struct shared_passes passes;
    narrow(a, address);
    cost_passes(address, lanes, a->bytes, &passes);
    const uint32_t conflicts = passes.n - 1;
    snprintf(title, sizeof title, "%s, %s %s: %u wavefront%s", name,
             is_matrix(p->event)   ? "rows at lanes"
             : lanes & (lanes - 1) ? "lanes"
                                   : "lane",
             svg_lanes(lanes, false, text), passes.n, text_plural(passes.n));
    heading(p, title);
    if (conflicts)
        svg_text(&p->svg, WIDTH - MARGIN, p->y, p->large ? "large bad end" : "bad end", "%u bank conflict%s", conflicts,
                 text_plural(conflicts));
    else if (merged(a, lanes))
        svg_text(&p->svg, WIDTH - MARGIN, p->y, p->large ? "label dim end" : "small dim end",
                 "two in one: neighbouring lanes ask for the same address");
    columns(p, "bank", "%u", 1, passes.words);
    const double height = row_height(p, true), left = p->large ? MARGIN / 2 : MARGIN;
    svg_rect(&p->svg, LEFT, p->y, 32 * CELL, passes.n * height, "frame");
    if (conflicts)
        svg_rect(&p->svg, left, p->y + height, LEFT + 32 * CELL - left, conflicts * height, "late");
    svg_grid(&p->svg, LEFT, p->y, 32, passes.n, CELL, height);
    for (uint32_t i = 0; i < passes.n; i++, p->y += height) {
        svg_group(&p->svg, "wave", NULL);
        svg_text(&p->svg, LEFT - 12,
                 p->y + (p->large ? (i ? 16 : 25)
                         : i      ? 13
                                  : 19),
                 p->large ? "label end" : "small end", "wavefront %u", ++p->waves);
        if (i)
            svg_text(&p->svg, LEFT - 12, p->y + (p->large ? 34 : 26), p->large ? "label bad end" : "small bad end",
                     "conflict");
        for (unsigned bank = 0; bank < 32; bank++)
            if (i < passes.words[bank])
                cell(p, a, lanes, bank, passes.word[i][bank], true, i > 0);
        svg_end(&p->svg);
    }
}

static void shared_access(struct picture *p, const struct trace_access *a, const char *name)
{
    uint32_t address[LANES], lanes[4], n = 4;
    char text[100];
    narrow(a, address);
    if (is_matrix(p->event)) {
        n = (uint32_t)__builtin_popcount(a->mask) / 8;
        for (uint32_t i = 0; i < n; i++)
            lanes[i] = COST_ROWS(i);
    } else {
        n = cost_phases(address, a->mask, a->bytes, is_load(p->event), lanes);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!lanes[i])
            continue;
        snprintf(text, sizeof text, "%s%s", name, *name ? ", " : "");
        const size_t length = strlen(text);
        if (is_matrix(p->event))
            snprintf(text + length, sizeof text - length, "matrix %u of %u", i + 1, n);
        else
            name_phases(a, lanes[i], text + length, sizeof text - length);
        text[0] -= text[0] >= 'a' ? 'a' - 'A' : 0;
        phase(p, a, lanes[i], text);
        if (p->large)
            break;
    }
}

static void line(struct picture *p, const struct trace_access *a, uint64_t at)
{
    svg_group(&p->svg, "line", NULL);
    const double height = row_height(p, false);
    svg_text(&p->svg, LEFT - 12, p->y + (p->large ? 25 : 15), p->large ? "label code end" : "small code end",
             "%" PRIu64, at * LINE - p->base);
    uint32_t who[32], in_sector[4] = { 0 };
    for (unsigned i = 0; i < 32; i++)
        in_sector[i / 8] |= who[i] = lanes_at(a, a->mask, at * 32 + i);
    for (unsigned i = 0; i < 4; i++)
        if (in_sector[i])
            svg_rect(&p->svg, LEFT + i * 8 * CELL, p->y, 8 * CELL, height, "wanted");
    for (unsigned i = 0; i < 32; i++)
        if (who[i])
            cell(p, a, a->mask, i, at * 32 + i, false, false);
    for (unsigned i = 0; i < 4; i++) {
        if (!in_sector[i])
            continue;
        svg_group(&p->svg, "sector", NULL);
        svg_rect(&p->svg, LEFT + i * 8 * CELL, p->y, 8 * CELL, height, "box");
        svg_end(&p->svg);
    }
    svg_end(&p->svg);
    p->y += height;
}

static void global_access(struct picture *p, const struct trace_access *a, const char *name)
{
    uint64_t lines[LANES];
    char title[300], text[LANES_TEXT];
    size_t n = 0;
    unsigned rows = 0;
    for (uint32_t lanes = a->mask; lanes; lanes &= lanes - 1)
        lines[n++] = a->address[__builtin_ctz(lanes)] / LINE;
    qsort(lines, n, sizeof *lines, by_number);
    const uint32_t sectors = cost_sectors(a->address, a->mask);
    snprintf(title, sizeof title, "%s%slane%s %s: %u sector%s", name, *name ? ", " : "", n > 1 ? "s" : "",
             svg_lanes(a->mask, false, text), sectors, text_plural(sectors));
    title[0] = title[0] == 'l' ? 'L' : title[0];
    heading(p, title);
    columns(p, "line at byte", "+%u", 4, NULL);
    for (size_t i = 0; i < n; i++)
        if (!i || lines[i] != lines[i - 1])
            lines[rows++] = lines[i];
    const unsigned hidden = p->large && rows > FEW ? rows - FEW : 0;
    rows -= hidden;
    const double height = row_height(p, false);
    svg_rect(&p->svg, LEFT, p->y, 32 * CELL, rows * height, "frame");
    svg_grid(&p->svg, LEFT, p->y, 32, rows, CELL, height);
    for (unsigned i = 0; i < rows; i++)
        line(p, a, lines[i]);
    if (hidden) {
        p->y += 26;
        svg_text(&p->svg, LEFT, p->y, "large dim", "and %u more line%s of %d bytes", hidden, text_plural(hidden), LINE);
    }
}

static void addresses(struct picture *p, const struct trace_access *a)
{
    const double step = (WIDTH - LEFT - MARGIN) / 8.0;
    char title[300];
    snprintf(title, sizeof title, "Addresses: byte of %s%s%s", p->where,
             is_matrix(p->event) ? " where each lane's row begins"
             : a->bytes > 1      ? " where each lane begins"
                                 : "",
             p->event->n > 1 ? ", first access" : "");
    heading(p, title);
    p->y += 8;
    for (unsigned i = 0; i < LANES; i++) {
        char class[16];
        const unsigned row = i / 8;
        const double x = MARGIN + 60 + i % 8 * step, y = p->y + row * 22;
        if (i == 0)
            svg_text(&p->svg, MARGIN, y + 15, "small dim", "lane");
        const bool outside = a->outside >> i & 1;
        if (!((a->mask | a->outside) >> i & 1))
            continue;
        snprintf(class, sizeof class, outside ? "late" : "l%u", i % 8);
        svg_rect(&p->svg, x, y + 1, 28, 19, class);
        svg_text(&p->svg, x + 14, y + 15, outside ? "code small big mid" : "code small big ink mid", "%u", i);
        svg_text(&p->svg, x + 36, y + 15, outside ? "code bad" : "code", "%" PRId64,
                 (int64_t)(a->address[i] - p->base));
    }
    p->y += 88;
}

// Lanes whose address is no multiple of what they ask for.
static uint32_t odd_lanes(const struct picture *p, const struct trace_access *a)
{
    uint32_t odd = 0;
    for (uint32_t i = 0; i < LANES && !p->event->widened; i++)
        odd |= (uint32_t)(a->address[i] % a->bytes != 0) << i;
    return odd & a->mask;
}

static void wrong_lanes(struct picture *p, const struct trace_access *a, const char *how, uint32_t lanes)
{
    char text[LANES_TEXT];
    if (!lanes)
        return;
    const unsigned first = (unsigned)__builtin_ctz(lanes);
    p->y += p->large ? 32 : 24;
    svg_text(
        &p->svg, MARGIN, p->y, p->large ? "large bad" : "bad", "%s: lane%s %s, lane %u at byte %" PRId64 " of %s. %s",
        how, text_plural((uint64_t)__builtin_popcount(lanes)), svg_lanes(lanes, false, text), first,
        (int64_t)(a->address[first] - p->base), p->where, is_load(p->event) ? "They read 0." : "They store nothing.");
}

// Lanes that fault: of those out of bounds no cell is drawn.
static void faults(struct picture *p, const struct trace_access *a)
{
    wrong_lanes(p, a, "Out of bounds", a->outside);
    wrong_lanes(p, a, "Misaligned", odd_lanes(p, a));
}

static void legend(struct picture *p)
{
    const bool shared = p->event->space == SPACE_SHARED;
    p->y += 28;
    svg_text(&p->svg, MARGIN, p->y, "small dim",
             shared ? "A cell is a word of 4 bytes: above, the %s; below, the byte of %s where it begins.%s"
                    : "A cell is a word of 4 bytes: the %s. Rows and columns add up to its byte in %s.%s",
             is_matrix(p->event) ? "lane that names its row" : "lanes that ask for it", p->where,
             p->brief ? " 0+7: lane 0 and seven more." : "");
    p->y += 17;
    svg_text(&p->svg, MARGIN, p->y, "small dim", "%s",
             shared ? "A bank moves one word a wavefront. Red: banks that are asked for several words at once, and "
                      "the wavefronts that this adds."
             : is_load(p->event)
                 ? "A frame is a sector of 32 bytes, which memory delivers as a whole: its cells without "
                   "a number are fetched though nobody asked for them."
                 : "A frame is a sector of 32 bytes, the smallest piece that memory takes: its cells "
                   "without a number are not written.");
    p->y += 20;
}

// --- the whole ---

// How many bytes of the fetched sectors some lane asks for.
static uint64_t used_bytes(const struct trace_access *a)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < LANES; i++) {
        for (uint32_t b = 0; a->mask >> i & 1 && b < a->bytes; b++) {
            bool again = false;
            for (uint32_t j = 0; j < i && !again; j++)
                again = a->mask >> j & 1 && a->address[i] + b - a->address[j] < a->bytes;
            n += !again;
        }
    }
    return n;
}

static void say_title(const struct picture *p, char *title, size_t size)
{
    const struct trace_event *e = p->event;
    const char *space = e->space == SPACE_SHARED ? "Shared-memory" : "Global-memory";
    const char *kind = is_matrix(e) ? (is_load(e) ? "ldmatrix" : "stmatrix") : is_load(e) ? "load" : "store";
    int n = is_matrix(e) ? snprintf(title, size, "%s: ", kind) : snprintf(title, size, "%s %s: ", space, kind);
    if (e->space == SPACE_GLOBAL) {
        uint64_t used = 0;
        for (uint32_t i = 0; i < e->n; i++)
            used += used_bytes(&e->access[i]);
        snprintf(title + n, size - (size_t)n, "%u request%s, %u sector%s; %" PRIu64 " of %u bytes are %s", e->n,
                 text_plural(e->n), p->sectors, text_plural(p->sectors), used, SECTOR * p->sectors,
                 is_load(e) ? "asked for" : "written");
    } else if (p->cost.conflicts) {
        snprintf(title + n, size - (size_t)n, "%u wavefronts, ideal %u, %u bank conflict%s", p->cost.waves,
                 p->cost.ideal, p->cost.conflicts, text_plural(p->cost.conflicts));
    } else {
        snprintf(title + n, size - (size_t)n, "%u wavefront%s, ideal %u, no bank conflicts", p->cost.waves,
                 text_plural(p->cost.waves), p->cost.ideal);
    }
}

char *draw_access(const struct draw_subject *subject)
{
    const struct trace_event *e = subject->event;
    struct picture p = { .subject = subject, .event = e, .y = 38, .large = subject->large };
    char title[200], name[64] = "";
    if (!svg_open(&p.svg))
        return NULL;
    find_base(&p);
    add_up(&p);
    say_title(&p, title, sizeof title);
    const bool bad = p.cost.conflicts && e->space == SPACE_SHARED;
    svg_text(&p.svg, MARGIN, p.y, p.large ? (bad ? "huge bad" : "huge") : bad ? "head bad" : "head", "%s", title);
    if (!p.large) {
        p.y += 26;
        svg_text(&p.svg, MARGIN, p.y, "code", "%s", subject->ptx);
    }
    for (int i = 0; i < DRAW_LINES && !p.large; i++) {
        if (!subject->source[i][0])
            continue;
        p.y += 20;
        svg_text(&p.svg, MARGIN, p.y, i == DRAW_LINES - 1 ? "dim" : "code dim", "%s", subject->source[i]);
    }
    faults(&p, &e->access[0]);
    for (uint32_t i = 0; i < e->n; i++) {
        if (e->n > 1)
            snprintf(name, sizeof name, "%s %u of %u", e->space == SPACE_SHARED ? "Access" : "Request", i + 1, e->n);
        (e->space == SPACE_SHARED ? shared_access : global_access)(&p, &e->access[i], name);
        if (p.large)
            break;
    }
    if (!p.large) {
        addresses(&p, &e->access[0]);
        legend(&p);
    } else if (e->space == SPACE_GLOBAL) {
        p.y += 32;
        const char *rest =
            used_bytes(&e->access[0]) == (uint64_t)SECTOR * cost_sectors(e->access[0].address, e->access[0].mask) ? ""
            : is_load(e) ? " Their cells without a number are fetched, and no lane asks for them."
                         : " Their cells without a number are not written.";
        svg_text(&p.svg, MARGIN, p.y, "large", "Framed: sectors of %d bytes.%s", SECTOR, rest);
    }
    p.y += p.large ? MARGIN : 0;
    return svg_close(&p.svg, WIDTH, p.y, title);
}
