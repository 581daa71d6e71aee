// The bits of a shared tile's index: which bits of an element's row and column make which bits of its byte, and so its
// bank. Read off a run: where the first tile's elements of a product's left or right matrix were put. Below, the lanes
// of one access: which element each names, and its banks, as they are and as they would be in a tile that lies by rows.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "draw_run.h"
#include "index_bits.h"
#include "base/svg.h"

#define WIDTH 1200
#define MARGIN 28
#define CHIP 58  // width of a bit
#define TALL 34  // height of a bit
#define LANES_SHOWN 16
#define ROW 32  // height of a lane's row
#define PLACES_MAX (1u << 20)

struct places {  // of the first tile of a matrix
    struct index_place *all;
    size_t n, room;
};

struct bits {
    const struct simt_product *product;
    struct places left, right;  // of its matrices
    const bool *wanted;         // by PTX instruction
    const struct simt_picture *place;
    const struct uop *seen[256];  // the line's accesses so far
    uint64_t n_seen;
    bool captured, failed;
    uint32_t mbarrier;  // of the first bulk copy (record.h)
    bool next_tile;     // one has been asked for that reports to another one
    struct trace_access access;
    uint64_t origin[LANES];  // of the first byte that the lane takes or gives
};

// --- from the run ---

// The factor from which a byte came straight, and the element; NULL if it did not.
static const struct simt_matrix *factor_of(const struct bits *b, uint64_t origin, uint64_t *row, uint64_t *col)
{
    const struct simt_matrix *m = origin_is_lane(origin) ? NULL : draw_element(b->product, origin, row, col);
    return m == &b->product->result ? NULL : m;
}

static struct places *places_of(struct bits *b, const struct simt_matrix *m)
{
    return m == &b->product->left ? &b->left : &b->right;
}

static void add_place(struct bits *b, uint64_t origin, uint32_t byte)
{
    uint64_t row, col;
    const struct simt_matrix *m = factor_of(b, origin, &row, &col);
    if (!m || (origin - m->address) % m->bytes)
        return;
    struct places *p = places_of(b, m);
    if (p->n == p->room) {
        const size_t room = 2 * p->room + 4096;
        struct index_place *more = p->n < PLACES_MAX ? realloc(p->all, room * sizeof *more) : NULL;
        b->failed |= !more;
        if (!more)
            return;
        p->all = more;
        p->room = room;
    }
    p->all[p->n++] = (struct index_place){ (uint32_t)row, (uint32_t)col, byte };
}

static void note_put(struct bits *b, const struct record_event *e)
{
    for (uint32_t i = 0; i < e->n; i++)
        for (uint32_t lane = 0; lane < LANES; lane++)
            for (uint32_t k = 0; e->access[i].mask >> lane & 1 && k < e->access[i].bytes && !b->failed; k++)
                add_place(b, e->origin[i][lane][k], (uint32_t)e->access[i].address[lane] + k);
}

static void capture(struct bits *b, const struct record *r, const struct record_event *e)
{
    for (uint64_t i = 0; i < b->n_seen; i++)
        if (b->seen[i] == e->u)
            return;
    if (b->n_seen == sizeof b->seen / sizeof *b->seen)
        return;
    b->seen[b->n_seen++] = e->u;
    if (b->n_seen - 1 != b->place->nth)
        return;
    b->captured = true;
    b->access = e->access[0];
    for (uint32_t lane = 0; lane < LANES; lane++)
        b->origin[lane] =
            e->kind == RECORD_STORE ? e->origin[0][lane][0] : record_shared(r, e->access[0].address[lane]);
}

// What threads put before the first barrier; of bulk copies those that report to the first one's mbarrier.
static bool in_first_tile(struct bits *b, const struct record_event *e)
{
    if (!e->mbarrier)
        return !e->barriers;
    if (!b->mbarrier)
        b->mbarrier = e->mbarrier;
    b->next_tile |= b->mbarrier != e->mbarrier;
    return !b->next_tile;
}

static void note(void *context, const struct record *r, const struct record_event *e)
{
    struct bits *b = context;
    if (e->block != r->block || e->space != SPACE_SHARED || !e->n)
        return;
    if (e->kind == RECORD_STORE && in_first_tile(b, e))
        note_put(b, e);
    if ((e->kind == RECORD_STORE || e->kind == RECORD_LOAD) && e->warp == b->place->warp && b->wanted[e->u->inst])
        capture(b, r, e);
}

// --- the picture ---

struct picture {
    struct svg svg;
    const struct bits *b;
    struct index_bits fit;
    const struct simt_matrix *m;
    uint64_t row, col;  // of the tile's first element
    bool by_steps;      // the byte is no XOR, but row * by_row + col * by_col
    int64_t by_row, by_col;
    double y;
};

static void chip(struct picture *p, double x, double y, char letter, unsigned bit)
{
    svg_rect(&p->svg, x + 2, y + 2, CHIP - 4, TALL - 4, letter == 'r' ? "l1" : "l0");
    svg_text(&p->svg, x + CHIP / 2.0, y + TALL - 10, "code large big ink mid", "%c%u", letter, bit);
}

// Row and column, one bit a chip, high bits first.
static void index_strip(struct picture *p)
{
    double x = MARGIN;
    svg_text(&p->svg, MARGIN, p->y, "large", "An element's row (orange) and column (blue) in the tile, bit by bit:");
    p->y += 14;
    for (unsigned i = p->fit.row_bits; i--; x += CHIP)
        chip(p, x, p->y, 'r', i);
    x += 14;
    for (unsigned i = p->fit.col_bits; i--; x += CHIP)
        chip(p, x, p->y, 'c', i);
    p->y += TALL;
}

// The chips that make one bit of the byte, from the top down; returns how many there are.
static unsigned sources(struct picture *p, unsigned bit, double x, double y, bool draw)
{
    unsigned n = 0;
    for (unsigned i = 0; i < p->fit.col_bits; i++)
        if (p->fit.of_col[i] >> bit & 1) {
            if (draw)
                chip(p, x, y + n * (TALL + 28), 'c', i);
            n++;
        }
    for (unsigned i = 0; i < p->fit.row_bits; i++)
        if (p->fit.of_row[i] >> bit & 1) {
            if (draw)
                chip(p, x, y + n * (TALL + 28), 'r', i);
            n++;
        }
    return n;
}

static unsigned byte_bits(const struct index_bits *f)
{
    uint32_t all = 0;
    for (unsigned i = 0; i < INDEX_BITS; i++)
        all |= f->of_row[i] | f->of_col[i];
    unsigned n = 7;  // the bank's bits at least
    while (n < 32 && all >> n)
        n++;
    return n;
}

// In place of the strips.
static void formula(struct picture *p)
{
    const int64_t longer = p->by_row > p->by_col ? p->by_row : p->by_col;
    const int64_t full = (p->by_row > p->by_col ? p->fit.cols : p->fit.rows) * (int64_t)p->m->bytes;
    svg_text(&p->svg, MARGIN, p->y, "large", "The byte where the kernel puts an element of the tile:");
    p->y += 44;
    svg_text(&p->svg, MARGIN, p->y, "code huge", "byte = %" PRId64 " x row + %" PRId64 " x column", p->by_row,
             p->by_col);
    p->y += 40;
    svg_text(&p->svg, MARGIN, p->y, "large",
             "A %s has %" PRId64 " bytes, the next begins %" PRId64 " bytes later: %" PRId64 " bytes of padding.",
             p->by_row > p->by_col ? "row" : "column", full, longer, longer - full);
}

static void byte_strip(struct picture *p)
{
    const unsigned n = byte_bits(&p->fit);
    unsigned most = 1;
    p->y += 48;
    svg_text(&p->svg, MARGIN, p->y, "large",
             "The byte where the kernel puts it, bit by bit. Framed: the five bits that "
             "are the bank.");
    p->y += 14;
    const double top = p->y + 28;
    for (unsigned bit = 0; bit < n; bit++) {
        const double x = MARGIN + (n - 1 - bit) * (double)CHIP;
        const unsigned sum = sources(p, bit, x, top, false);
        svg_group(&p->svg, "bit", NULL);
        svg_text(&p->svg, x + CHIP / 2.0, p->y + 18, "large dim mid", "%u", bit);
        svg_rect(&p->svg, x + 2, top + 2, CHIP - 4, TALL - 4, "frame edge");
        sources(p, bit, x, top, true);
        if (!sum)
            svg_text(&p->svg, x + CHIP / 2.0, top + TALL - 10, "code large dim mid", "0");
        for (unsigned i = 1; i < sum; i++)
            svg_text(&p->svg, x + CHIP / 2.0, top + i * (TALL + 28) - 7, "large mid", "XOR");
        svg_end(&p->svg);
        most = sum > most ? sum : most;
    }
    const double height = most * (TALL + 28.0) - 22;
    svg_rect(&p->svg, MARGIN + (n - 7) * (double)CHIP, top - 4, 5.0 * CHIP, height + 8, "box");
    p->y = top + height + 8;
}

// --- the lanes ---

static void banks_cell(struct picture *p, double x, uint32_t byte)
{
    char class[16];
    const uint32_t first = byte / 4 % 32, words = (p->b->access.bytes + 3) / 4;
    snprintf(class, sizeof class, "l%u", first / 4);
    svg_rect(&p->svg, x, p->y + 2, 130, ROW - 4, class);
    if (words > 1)
        svg_text(&p->svg, x + 65, p->y + ROW - 9, "large ink mid", "%u\xe2\x80\x93%u", first, (first + words - 1) % 32);
    else
        svg_text(&p->svg, x + 65, p->y + ROW - 9, "large ink mid", "%u", first);
}

static void lane_row(struct picture *p, double x, uint32_t lane, bool compared)
{
    const uint64_t element = (p->b->origin[lane] - p->m->address) / p->m->bytes;
    const uint64_t row = element / p->m->columns - p->row, col = element % p->m->columns - p->col;
    const uint32_t byte = (uint32_t)p->b->access.address[lane];
    svg_group(&p->svg, "lane", NULL);
    svg_text(&p->svg, x + 40, p->y + ROW - 9, "large end", "T%u", lane);
    svg_text(&p->svg, x + 120, p->y + ROW - 9, "large end", "%" PRIu64, row);
    svg_text(&p->svg, x + 180, p->y + ROW - 9, "large end", "%" PRIu64, col);
    svg_text(&p->svg, x + 270, p->y + ROW - 9, "code large end", "%u", byte - p->fit.first);
    banks_cell(p, x + 290, byte);
    const uint64_t plain = p->by_steps && p->by_row < p->by_col ? col * p->fit.rows + row : row * p->fit.cols + col;
    if (compared)
        banks_cell(p, x + 426, (uint32_t)(plain * p->m->bytes));
    svg_end(&p->svg);
}

static void lanes(struct picture *p)
{
    const bool compared = p->by_steps || index_bits_swizzled(&p->fit);
    const double step = (WIDTH - 2 * MARGIN) / 2.0 + 4;
    p->y += 44;
    svg_text(&p->svg, MARGIN, p->y, "large big", "Lanes of the access, %u bytes each: the element where each begins",
             p->b->access.bytes);
    p->y += 34;
    for (int half = 0; half < 2; half++) {
        const double x = MARGIN - 8 + half * step;
        svg_text(&p->svg, x + 120, p->y, "large dim end", "row");
        svg_text(&p->svg, x + 180, p->y, "large dim end", "col");
        svg_text(&p->svg, x + 270, p->y, "large dim end", "byte");
        svg_text(&p->svg, x + 355, p->y, "large dim mid", "banks");
        if (compared)
            svg_text(&p->svg, x + 491, p->y, "large dim mid", p->by_steps ? "unpadded" : "if by rows");
    }
    p->y += 6;
    const double top = p->y;
    const uint32_t half = LANES_SHOWN / 2;  // in two columns
    for (uint32_t i = 0; i < LANES_SHOWN; i++) {
        const uint32_t row = i % half, column = i / half;
        p->y = top + row * (double)ROW;
        if (p->b->access.mask >> i & 1)
            lane_row(p, MARGIN - 8 + column * step, i, compared);
    }
    p->y = top + half * (double)ROW;
}

// The bits of rows or columns that reach the bank: "r0, r1"; "none".
static void reach(const uint32_t *of, unsigned bits, char letter, char *text, size_t size)
{
    size_t n = 0;
    snprintf(text, size, "none");
    for (unsigned i = 0; i < bits && n + 8 < size; i++)
        if (of[i] & 0x7c)
            n += (size_t)snprintf(text + n, size - n, "%s%c%u", n ? ", " : "", letter, i);
}

// How the tile lies.
static const char *order(const struct picture *p)
{
    bool by_rows = true, by_columns = true;
    if (p->by_steps || index_bits_swizzled(&p->fit))
        return p->by_steps ? "padded" : "swizzled by XOR";
    for (unsigned i = 0; i < INDEX_BITS; i++) {
        const uint32_t one = p->m->bytes << i;
        by_rows &= (i >= p->fit.row_bits || p->fit.of_row[i] == one * p->fit.cols) &&
                   (i >= p->fit.col_bits || p->fit.of_col[i] == one);
        by_columns &= (i >= p->fit.row_bits || p->fit.of_row[i] == one) &&
                      (i >= p->fit.col_bits || p->fit.of_col[i] == one * p->fit.rows);
    }
    return by_rows ? "by rows" : by_columns ? "by columns" : "its bits in another order";
}

static char *paint(const struct bits *b, const struct picture *found)
{
    struct picture p = *found;
    char title[200], rows[200];
    if (!svg_open(&p.svg))
        return NULL;
    p.b = b;
    p.y = 92;
    reach(p.fit.of_row, p.fit.row_bits, 'r', rows, sizeof rows);
    const char *how = order(&p);
    snprintf(title, sizeof title, "The index of a tile of %.40s, %u x %u: %s", p.m->name, p.fit.rows, p.fit.cols, how);
    svg_text(&p.svg, MARGIN, 48, "huge", "%s", title);
    if (p.by_steps) {
        formula(&p);
    } else {
        index_strip(&p);
        byte_strip(&p);
        p.y += 34;
        svg_text(&p.svg, MARGIN, p.y, "large", "Row bits that reach the bank: %s.", rows);
    }
    lanes(&p);
    if (p.by_steps)
        snprintf(rows, sizeof rows, "The byte is %" PRId64 " times the row plus %" PRId64 " times the column", p.by_row,
                 p.by_col);
    svg_describe(&p.svg,
                 "A tile of %.40s of %u rows and %u columns in shared memory, %s. %s%s. Below, the banks of the "
                 "lanes of an access.",
                 p.m->name, p.fit.rows, p.fit.cols, how, p.by_steps ? "" : "Row bits that reach the bank: ", rows);
    return svg_close(&p.svg, WIDTH, p.y + MARGIN, title);
}

// --- what can be drawn ---

// The tile's places, counted from its first row and column.
static void settle(struct places *p, uint64_t *row, uint64_t *col)
{
    uint32_t top = UINT32_MAX, left = UINT32_MAX;
    for (size_t i = 0; i < p->n; i++) {
        top = p->all[i].row < top ? p->all[i].row : top;
        left = p->all[i].col < left ? p->all[i].col : left;
    }
    for (size_t i = 0; i < p->n; i++) {
        p->all[i].row -= top;
        p->all[i].col -= left;
    }
    *row = top;
    *col = left;
}

static bool understand(struct bits *b, struct picture *p, char error[DEV_ERROR_MAX])
{
    uint64_t row, col;
    const uint32_t shown = b->access.mask & ((1u << LANES_SHOWN) - 1);
    if (!b->captured)
        return error_set(error, "warp %" PRIu64 " runs %" PRIu64 " loads and stores of shared memory at that line",
                         b->place->warp, b->n_seen);
    for (uint32_t i = 0; i < LANES_SHOWN; i++) {
        const struct simt_matrix *m = factor_of(b, b->origin[i], &row, &col);
        if (shown >> i & 1 && (!m || (p->m && p->m != m)))
            return error_set(error, "what the lanes take there did not come straight from %.40s, or from %.40s",
                             b->product->left.name, b->product->right.name);
        p->m = shown >> i & 1 ? m : p->m;
    }
    if (!p->m)
        return error_set(error, "no lane below 16 takes part in that access");
    struct places *places = places_of(b, p->m);
    settle(places, &p->row, &p->col);
    const bool as_bits = index_bits_fit(places->all, places->n, &p->fit);
    const bool as_steps = index_steps_fit(places->all, places->n, &p->fit, &p->by_row, &p->by_col);
    p->by_steps = !as_bits && as_steps;
    if ((as_bits || as_steps) && p->fit.first % 128 == 0)
        return true;
    if (p->fit.wanted == UINT32_MAX && !as_bits && !as_steps)
        return error_set(error,
                         "the tile is not whole: its rows and columns are no powers of two, or some were not put");
    if (p->fit.first % 128)
        return error_set(error,
                         "the tile begins at no multiple of 128 bytes, so that its banks are no bits of its index");
    return error_set(error,
                     "the tile of %.40s is neither an XOR of bits nor a sum of steps: row %u, column %u is at byte %u, "
                     "where its bits lead to %u",
                     p->m->name, p->fit.odd.row, p->fit.odd.col, p->fit.odd.byte - p->fit.first,
                     p->fit.wanted - p->fit.first);
}

char *draw_bits(const struct draw_launch *l, char error[DEV_ERROR_MAX])
{
    bool *wanted = draw_instructions(l->kernel, l->place);
    struct bits *b = calloc(1, sizeof *b);
    struct record *r = calloc(1, sizeof *r);
    struct picture p = { 0 };
    char *text = NULL;
    if (!wanted || !b || !r) {
        snprintf(error, DEV_ERROR_MAX, "out of memory for the picture");
    } else if ((b->product = draw_product(l, error))) {
        b->wanted = wanted;
        b->place = l->place;
        r->tell = note;
        r->context = b;
        if (draw_record(l, r, error) && understand(b, &p, error)) {
            text = b->failed ? NULL : paint(b, &p);
            if (!text)
                snprintf(error, DEV_ERROR_MAX, "out of memory for the picture, or a tile of more than 2^20 elements");
        }
        record_free(r);
    }
    if (b) {
        free(b->left.all);
        free(b->right.all);
    }
    free(b);
    free(r);
    free(wanted);
    return text;
}
