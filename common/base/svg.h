// Writes SVG pictures that read well on light and dark pages. All text goes through XML's escapes; colours and fonts
// are classes of one style sheet, so that a picture needs nothing from elsewhere.
//
// Classes of shapes: page, frame, grid, late, wanted, clash, box, piece (thinly framed), zoom, wall (lines), edge,
// chosen, within, pill, l0 to l7 (eight colours that the colour-blind can tell apart, light enough for class ink on
// top). Classes of text: head, big, code, small, dim, bad, ink, mid (centred), end (right-aligned); several are
// separated by blanks.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct svg {
    FILE *out;  // the body; kept in memory, since the head says how tall it is
    char *body;
    size_t bytes;
    char described[1000];  // see svg_describe
};

bool svg_open(struct svg *s);  // false when memory runs out
// The picture's text, which the caller frees; title says what it shows to those who cannot see it. NULL when memory
// runs out.
char *svg_close(struct svg *s, double width, double height, const char *title);

// What the picture shows, in sentences, for those who cannot see it.
void svg_describe(struct svg *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Places and sizes are in the picture's units, from its top left corner. class: one of those above.
void svg_rect(struct svg *s, double x, double y, double width, double height, const char *class);
// The lines of a table of so many columns and rows, each width x height.
void svg_grid(struct svg *s, double x, double y, unsigned columns, unsigned rows, double width, double height);
// A line from one point to another.
void svg_line(struct svg *s, double x1, double y1, double x2, double y2, const char *class);
// Bars of so many columns, each width wide, as tall as height: neighbours that are on are one bar.
void svg_bars(struct svg *s, const char *class, double x, double y, double width, double height, const bool *on,
              unsigned columns);
void svg_text(struct svg *s, double x, double y, const char *class, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
// A group of shapes with a text that shows when the mouse rests on it; NULL for none.
void svg_group(struct svg *s, const char *class, const char *hint, ...) __attribute__((format(printf, 3, 4)));
void svg_end(struct svg *s);

// Lanes as a list of ranges, "0-3, 8"; or, in brief, at most 5 characters: "0-3", "8", "0+4" for lane 0 and four
// others.
#define LANES_TEXT 100
const char *svg_lanes(uint32_t mask, bool brief, char text[LANES_TEXT]);
