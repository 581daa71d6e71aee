// Pictures of matrix operands of the tensor cores: element -> lane and register, from fragment.h, and the rows of 16
// bytes from which ldmatrix fills them.
#include <stdio.h>
#include <string.h>

#include "draw.h"
#include "simt/machine/fragment_list.h"
#include "base/svg.h"

#define MARGIN 24
#define GUTTER 48  // for the row numbers
#define WIDEST 1152
#define NARROWEST 820
#define NARROWEST_LARGE 1000

struct picture {
    struct svg svg;
    struct fragment f;
    char letter;  // of the operand
    enum fragment_role role;
    const char *type;
    struct fragment_shape shape;
    double y, right;  // right: what the widest part needs
    bool large;
};

// --- what is asked for ---

static void list_types(bool c, char *text, size_t size)
{
    const struct fragment_type *t;
    size_t n = 0;
    for (unsigned i = 0; (t = fragment_type(i)) && n < size; i++)
        if (t->c == c)
            n += (size_t)snprintf(text + n, size - n, "%s%s", n ? ", " : "", t->name);
}

static bool find_shape(const struct simt_fragment *what, const struct fragment_type *type, struct picture *p,
                       char error[DEV_ERROR_MAX])
{
    const char *asked = what->shape ? what->shape : "m16n8k16";
    const bool any = !what->shape, wmma = !strcmp(asked, "wmma");
    const struct fragment_shape *s;
    char list[300] = "wmma";
    size_t n = strlen(list);
    for (unsigned i = 0; (s = fragment_shape(i)); i++) {
        char name[40];
        snprintf(name, sizeof name, "m%dn%dk%d", s->m, s->n, s->k);
        if (!fragment_fits(type, s))
            continue;
        n += n < sizeof list ? (size_t)snprintf(list + n, sizeof list - n, ", %s", name) : 0;
        if (any || (wmma ? s->wmma || s->bytes == 8 : !strcmp(asked, name))) {
            p->shape = *s;
            return true;
        }
    }
    return error_set(error, "--shape %.100s: the shapes of %s are %s", asked, type->name, list);
}

static bool resolve(const struct simt_fragment *what, struct picture *p, char error[DEV_ERROR_MAX])
{
    const char *o = what->operand;
    if (strlen(o) != 1 || !strchr("abc", *o))
        return error_set(error, "--fragment %.100s: the operands are a, b and c", o);
    p->letter = *o;
    p->role = *o == 'c' ? FRAGMENT_C : *o == 'a' ? FRAGMENT_A : FRAGMENT_B;
    const bool c = *o == 'c';
    const char *asked = what->type ? what->type : c ? "f32" : "f16";
    const struct fragment_type *type;
    unsigned i = 0;
    while ((type = fragment_type(i)) && (type->c != c || strcmp(type->name, asked)))
        i++;
    if (!type) {
        char list[200];
        list_types(c, list, sizeof list);
        return error_set(error, "--type %.100s: the elements of %s are %s", asked, o, list);
    }
    p->type = type->name;
    if (!find_shape(what, type, p, error))
        return false;
    if (!fragment_named(p->role, &p->shape, type, &p->f))
        return error_set(error, "there is no such fragment");
    return true;
}

// --- the map ---

static const char *part_of(const struct fragment *f, unsigned i)
{
    static const char *const halves[] = { ".lo", ".hi" }, *const quarters[] = { ".0", ".1", ".2", ".3" };
    return f->pack == 2 ? halves[i] : f->pack == 4 ? quarters[i] : "";
}

static void numbers(struct picture *p, double x, double width, double height)
{
    for (unsigned col = 0; col < p->f.cols; col++)
        svg_text(&p->svg, x + (col + 0.5) * width, p->y - 6, p->large ? "code label dim mid" : "code small dim mid",
                 "%u", col);
    for (unsigned row = 0; row < p->f.rows; row++)
        svg_text(&p->svg, x - 8, p->y + (row + 0.5) * height + (p->large ? 6 : 4),
                 p->large ? "code label dim end" : "code small dim end", "%u", row);
}

// The frames of the registers; of paired ones, one frame for two.
static void frames(struct picture *p, double x, double width, double height)
{
    const struct fragment *f = &p->f;
    const unsigned along = f->paired ? 8 : 4 * f->pack;
    for (unsigned r = 0; r < f->distinct; r += f->paired ? 2 : 1)
        svg_rect(&p->svg, x + f->base[r].col * width, p->y + f->base[r].row * height, (f->swapped ? 8 : along) * width,
                 (f->swapped ? along : 8) * height, "box");
}

// A lane's elements of a register are neighbours: one cell for them all.
static void large_cell(struct picture *p, unsigned r, unsigned lane, double x0, double width, double height)
{
    const struct fragment *f = &p->f;
    char class[8];
    unsigned row, col;
    fragment_at(f, r, lane, 0, &row, &col);
    const double x = x0 + col * width, y = p->y + row * height;
    const double w = (f->swapped ? 1 : f->pack) * width, h = (f->swapped ? f->pack : 1) * height;
    snprintf(class, sizeof class, "l%u", lane % 8);
    svg_group(&p->svg, "cell", "row %u, column %u: lane %u, register %c%u", row, col, lane, p->letter, r);
    svg_rect(&p->svg, x + 1, y + 1, w - 2, h - 2, class);
    svg_text(&p->svg, x + w / 2, y + h / 2 + 7, "code large big ink end", "%u", lane);
    svg_text(&p->svg, x + w / 2 + 4, y + h / 2 + 7, "code label ink", "%c%u", p->letter, r);
    svg_end(&p->svg);
}

static void map(struct picture *p)
{
    const struct fragment *f = &p->f;
    const double width = f->cols > 16 ? 34 : f->cols > 8 ? 56 : 64, height = 32, x0 = MARGIN + GUTTER;
    p->y += 46;
    numbers(p, x0, width, height);
    for (unsigned r = 0; r < f->distinct; r++) {
        for (unsigned lane = 0; lane < 32; lane++) {
            if (p->large)
                large_cell(p, r, lane, x0, width, height);
            for (unsigned i = 0; i < f->pack && !p->large; i++) {
                char class[8];
                unsigned row, col;
                fragment_at(f, r, lane, i, &row, &col);
                const double x = x0 + col * width, y = p->y + row * height;
                snprintf(class, sizeof class, "l%u", lane % 8);
                svg_group(&p->svg, "cell", "row %u, column %u: lane %u, register %c%u%s", row, col, lane, p->letter, r,
                          part_of(f, i));
                svg_rect(&p->svg, x + 1, y + 1, width - 2, height - 2, class);
                svg_text(&p->svg, x + width / 2, y + 15, "code big ink mid", "%u", lane);
                svg_text(&p->svg, x + width / 2, y + 27, "code unit ink mid", "%c%u%s", p->letter, r, part_of(f, i));
                svg_end(&p->svg);
            }
        }
    }
    frames(p, x0, width, height);
    p->y += f->rows * height;
    p->right = x0 + f->cols * width;
}

// --- ldmatrix ---

// The rows of 16 bytes that ldmatrix reads, in a matrix that lies by rows or by columns.
static void strips(struct picture *p, double x0, bool by_columns)
{
    const struct fragment *f = &p->f;
    const double width = f->cols > 16 ? 34 : f->cols > 8 ? 32 : 40, height = 24;
    const double length = 16.0 / f->bytes;
    const unsigned matrices = f->distinct > 4 ? 4 : f->distinct;
    bool trans;
    fragment_ldmatrix(p->role, f, by_columns, &trans);
    svg_text(&p->svg, x0 - GUTTER, p->y - 28, "big", "In memory by %s: %sldmatrix.x%u%s",
             by_columns ? "columns" : "rows", f->distinct > 4 ? "two " : "", matrices, trans ? ".trans" : "");
    numbers(p, x0, width, height);
    for (unsigned k = 0; k < 8u * f->distinct; k++) {
        char class[8];
        const unsigned r = k / 8, lane = fragment_strip_lane(r, k % 8);
        unsigned row, col;
        fragment_strip(f, r, k % 8, by_columns, &row, &col);
        const double x = x0 + col * width, y = p->y + row * height;
        const double w = by_columns ? width : length * width, h = by_columns ? length * height : height;
        snprintf(class, sizeof class, "l%u", lane % 8);
        svg_group(&p->svg, "strip", "lane %u names this row of matrix %u, which goes to register %c%u", lane, r % 4,
                  p->letter, r);
        svg_rect(&p->svg, x + 1, y + 1, w - 2, h - 2, class);
        if (by_columns) {
            svg_text(&p->svg, x + w / 2, y + 17, "code big ink mid", "%u", lane);
            svg_text(&p->svg, x + w / 2, y + h - 8, "code small ink mid", "%c%u", p->letter, r);
        } else {
            svg_text(&p->svg, x + 10, y + 17, "code big ink", length > 4 ? "lane %u" : "%u", lane);
            svg_text(&p->svg, x + w - 10, y + 17, "code small ink end", "%c%u", p->letter, r);
        }
        svg_end(&p->svg);
    }
    frames(p, x0, width, height);
    const double right = x0 + f->cols * width;
    p->right = right > p->right ? right : p->right;
}

static void filling(struct picture *p)
{
    const struct fragment *f = &p->f;
    const double wide = f->cols > 16 ? 34 * 32 : f->cols > 8 ? 32 * 16 : 40 * 8;
    const bool beside = 2 * (wide + GUTTER) <= WIDEST;
    double x = MARGIN + GUTTER;
    bool ways[2], trans;
    for (int by_columns = 0; by_columns < 2; by_columns++)
        ways[by_columns] = fragment_ldmatrix(p->role, f, by_columns, &trans);
    if (p->large || (!ways[0] && !ways[1]))
        return;
    p->y += 40;
    svg_text(&p->svg, MARGIN, p->y, "head", "How ldmatrix fills it from shared memory");
    p->y += 22;
    svg_text(&p->svg, MARGIN, p->y, "dim",
             "A strip is a row of 16 bytes; the lane in it names its address, whichever lane gets the elements.");
    if (f->bytes != 2) {
        p->y += 18;
        svg_text(&p->svg, MARGIN, p->y, "dim", "The matrix must lie by %s: .trans turns elements of 16 bits only.",
                 f->swapped ? "columns" : "rows");
    }
    p->y += 58;
    for (int by_columns = 0; by_columns < 2; by_columns++) {
        if (!ways[by_columns])
            continue;
        strips(p, x, by_columns);
        if (beside)
            x += wide + GUTTER + 24;
        else
            p->y += f->rows * 24 + 64;
    }
    p->y += beside ? f->rows * 24 : -64;
}

char *simt_draw_fragment(const struct simt_fragment *what, char error[DEV_ERROR_MAX])
{
    struct picture p = { .y = 38, .large = what->large };
    char title[200];
    if (!resolve(what, &p, error))
        return NULL;
    const struct fragment *f = &p.f;
    const struct fragment_shape *s = &p.shape;
    snprintf(title, sizeof title, "Operand %c of %s.m%dn%dk%d, %s: %u rows, %u columns", p.letter,
             s->wmma ? "wmma" : "mma", s->m, s->n, s->k, p.type, f->rows, f->cols);
    if (!svg_open(&p.svg)) {
        snprintf(error, DEV_ERROR_MAX, "out of memory for the picture");
        return NULL;
    }
    svg_text(&p.svg, MARGIN, p.y, p.large ? "huge" : "head", "%s", title);
    p.y += p.large ? 28 : 24;
    svg_text(&p.svg, MARGIN, p.y, p.large ? "large dim" : "dim",
             "In each %s: the lane that holds it, and in which register%s%s.",
             p.large && f->pack > 1 ? "cell" : "element",
             p.large        ? ""
             : f->pack == 2 ? ", its low or high half"
             : f->pack == 4 ? ", and which byte of it"
                            : "",
             f->paired ? "; a frame is two registers" : "; a frame is one register of all lanes");
    if (f->n > f->distinct) {
        p.y += 18;
        svg_text(&p.svg, MARGIN, p.y, "dim",
                 "The instruction names %u registers: %c%u to %c%u hold the same once more.", f->n, p.letter,
                 f->distinct, p.letter, f->n - 1);
    }
    if (s->wmma) {
        p.y += p.large ? 26 : 18;
        svg_text(&p.svg, MARGIN, p.y, p.large ? "large dim" : "dim",
                 "PTX leaves it open where wmma puts an element; this is how an H200 does it.");
    }
    map(&p);
    filling(&p);
    const double width = p.right + MARGIN;
    const double least = p.large ? NARROWEST_LARGE : NARROWEST;
    char *text = svg_close(&p.svg, width < least ? least : width, p.y + MARGIN, title);
    if (!text)
        snprintf(error, DEV_ERROR_MAX, "out of memory for the picture");
    return text;
}
