// Products of special matrices: which elements of A and B meet in an element of C, whatever a kernel makes of them.
//
// A hot matrix has a single 1 in each row (A) or column (B): A[i][i % K] and B[j % K][j]. Times numbers that tell a row
// or a column, C shows which element a kernel took. Six launches: with a hot B, A is all ones, the number of its row,
// and the number of its column; with a hot A the same for B.
#ifndef COMMON_LOOK_H
#define COMMON_LOOK_H

#include "probe.h"

enum look_at { LOOK_B_COUNT, LOOK_A_ROW, LOOK_A_COL, LOOK_A_COUNT, LOOK_B_ROW, LOOK_B_COL, LOOKS };

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

// False if a launch fails or time runs out. Sizes are at most LOOK_MAX; n >= k and m >= k, or some products stay
// unseen.
bool look_take(struct look *l, struct probe *p, int m, int n, int k);
void look_free(struct look *l);
struct meeting look_meeting(const struct look *l, int row, int col);

#endif
