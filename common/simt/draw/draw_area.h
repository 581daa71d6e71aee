// A matrix whose elements are numbered, drawn as rectangles of one number: a panel of the pictures of a launch.
#pragma once

#include "base/svg.h"

struct area {
    uint64_t row, col, rows, cols;
};

struct panel {
    struct svg *svg;
    const uint32_t *key;  // by element of the matrix; 0 is drawn empty
    uint64_t pitch;       // elements from row to row of key
    uint32_t shift;       // a key's number is (key - 1) >> shift
    struct area area;
    double x, y, width, height;
    uint32_t chosen;   // the number that gets a frame
    bool colours;      // else only the chosen one has a colour
    bool unnamed;      // no numbers
    const char *word;  // before the number, where there is room
};

// The smallest area that holds all elements whose number is n; of any number, if n is UINT32_MAX.
struct area area_bounds(const uint32_t *key, uint64_t rows, uint64_t cols, uint32_t shift, uint32_t n);

uint32_t panel_numbers(const struct panel *p);  // how many different ones its area has
uint32_t panel_rectangles(struct panel *p);     // how many rectangles of one number cover its area
void panel_pixels(const struct panel *p, struct area a, double out[4]);  // where a lies: x, y, width, height
// Shrinks the panel's height or width so that elements are square, unless that makes a narrow strip.
void panel_fit(struct panel *p);
void panel_draw(struct panel *p);
