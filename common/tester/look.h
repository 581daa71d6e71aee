// Products of special matrices: which elements of A and B meet in an element of C, whatever a kernel makes of them.
//
// A hot matrix has a single 1 in each row (A) or column (B): A[i][i % K] and B[j % K][j]. Times numbers that tell a row
// or a column, C shows which element a kernel took. Six launches: with a hot B, A is all ones, the number of its row,
// and the number of its column; with a hot A the same for B.
#pragma once

#include "probe.h"

enum look_at {
    LOOK_B_COUNT,
    LOOK_A_ROW,
    LOOK_A_COL,
    LOOK_A_COUNT,
    LOOK_B_ROW,
    LOOK_B_COL,
    LOOK_TAKEN,
    // On demand: A is all zeros and beta is 1, and C0 has the number of its row, or of its column.
    LOOK_OLD_ROW = LOOK_TAKEN,
    LOOK_OLD_COL,
    LOOKS
};

struct look {
    int m, n, k;
    struct matrix C[LOOKS];
};

// C[i][j] as a kernel made it. The element of A that it multiplied by a 1 in B, and the other way round; -1: none, or
// several, or what is no number of a row or column.
struct meeting {
    bool written;             // C[i][j] is not the poison
    int a_row, a_col;         // right: i, j % K
    int b_row, b_col;         // right: i % K, j
    double a_count, b_count;  // 1s of a hot A, and of a hot B, that reached C[i][j]; right: 1
};

// The largest size that the numbers can tell apart in C's type.
enum { LOOK_MAX = 2000 };

// False if a launch fails or time runs out. Sizes are at most LOOK_MAX. Of n < k and m < k, some places of A and B stay
// unseen.
bool look_take(struct look *l, struct probe *p, int m, int n, int k);
bool look_take_old(struct look *l, struct probe *p);
void look_free(struct look *l);
bool look_is_zero(const struct look *l);  // in all of C
struct meeting look_meeting(const struct look *l, int row, int col);

// Whether the element of C0 that reached C[row][col] is that of (to_row, to_col). After look_take_old.
bool look_old_is(const struct look *l, int row, int col, int to_row, int to_col);

// How often the product of each k was added to C, count[k], in those block tiles where that is not once. False if they
// do not agree, if a launch fails or time runs out.
bool look_counts(const struct look *l, struct probe *p, double *count);
