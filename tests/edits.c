// See edits.h.
#include "edits.h"

const struct kernel_edit kernel_edits[] = {
    // --- Accumulators without their zeros ---
    { "01", "uninitialised accumulator", "REAL acc = 0;", "REAL acc;", "", { "uninitialised" } },
    { "02", "uninitialised accumulator", "REAL acc = 0;", "REAL acc;", "", { "uninitialised" } },
    { "05", "uninitialised accumulators", "acc[TM][TN] = {};", "acc[TM][TN];", "", { "uninitialised" } },
    { "08", "uninitialised accumulators", "acc[WM / 16][WN / 16] = {};", "acc[WM / 16][WN / 16];", "",
      { "uninitialised" } },
    { "12", "uninitialised accumulators", "acc[WM / 16][WN / 16][8] = {};", "acc[WM / 16][WN / 16][8];", "",
      { "uninitialised" } },

    // --- Missing barriers ---
    { "02", "no barrier before the tiles are read", "        __syncthreads();  // both tiles are complete", "        // ",
      "", { "race", "no barrier" } },
    { "04", "no barrier before the tiles are overwritten", "        __syncthreads();  // everyone has read", "        // ",
      "", { "race", "no barrier" } },
    { "07", "no barrier in the loop", "        __syncthreads();  // the next tiles are complete", "        // ", "",
      { "race", "no barrier" } },
    { "09", "no barrier in the loop", "                __syncthreads();  // tile + 1 is complete", "                // ", "",
      { "race", "no barrier" } },
    { "12", "no barrier before C's rows are read", "        __syncthreads();  // these rows are complete", "        // ", "",
      { "race", "no barrier" } },

    // --- k ---
    { "01", "k from 1", "for (int k = 0; k < K; k++)", "for (int k = 1; k < K; k++)", "",
      { "the first 1 of ", "products are missing", "loop over K" } },
    { "02", "one tile too few", "tile <= (K - 1) / BK", "tile < (K - 1) / BK", "",
      { "the last ", "products are missing", "loop over K" } },
    { "03", "k ends one early", "for (int k = 0; k < BK; k++)", "for (int k = 0; k < BK - 1; k++)", "",
      { "products are missing", "loop over K" } },

    // --- Strides ---
    { "01", "rows of A as long as those of B", "A[size_t(row) * K + k]", "A[size_t(row) * N + k]", "--n 128",
      { "rows of A are taken to be", "stride" } },
    { "02", "rows of B as long as those of A", "B[size_t(crow + i) * N", "B[size_t(crow + i) * K", "--n 384",
      { "rows of B are taken to be", "stride" } },
    { "09", "rows of Bs as long as those of As", "col + j * 16], LDB)", "col + j * 16], LDA)", "",
      { "rows of B's tile are taken to be 32 elements apart, and are 256" } },
    { "10", "rows of Bs without their padding", "(c - ACOPIES) * BROWS) * LDB + ccol", "(c - ACOPIES) * BROWS) * BN + ccol",
      "", { "uninitialised" } },
    { "07", "B does not move on", "A += depth, B += size_t(depth) * N,", "A += depth,", "",
      { "B's tile of another step along K" } },

    // --- Indices ---
    { "01", "row and column of B swapped", "B[size_t(k) * N + col]", "B[size_t(col) * K + k]", "",
      { "B is transposed" } },
    { "02", "row and column of Bs swapped", "Bs[k][col]", "Bs[col][k]", "", { "row and column of B's tile are swapped" } },
    { "03", "the row of the thread's patch left out", "As[row + i][k]", "As[row][k]", "",
      { "one row of A is used for 8" } },
    { "03", "the block's first row left out", "A += size_t(brow) * K;", "", "",
      { "another block's tile of A", "first row" } },
    { "04", "row and column of the patch swapped", "acc[i][j] += a[i] * b[j]", "acc[i][j] += a[j] * b[i]", "",
      { "8 x 8 of C are transposed" } },
    { "04", "the block's first column left out", "B += bcol;", "", "", { "another block's tile of B", "first column" } },
    { "05", "the thread's column of B's copy left out", "min(bcol + ccol, N - 4)", "min(bcol, N - 4)", "",
      { "columns of B" } },
    { "05", "As not transposed", "As[acol + e][arow + i]", "As[acol][arow + i + e]", "", { "A" } },
    { "06", "the pieces of a thread side by side in A", "row + i / 4 * DM]", "row + i]", "", { "rows of A" } },
    { "06", "lanes by fours", "lane / 2 % 8 * 4", "lane / 4 % 8 * 4", "", { "never written" } },
    { "06", "acc transposed at the store", "&acc[i][j], beta", "&acc[j][i], beta", "", { "of C are transposed" } },

    // --- Fragments ---
    { "08", "B's fragments by columns", "half, wmma::row_major> b", "half, wmma::col_major> b", "",
      { "16 x 16 of B are transposed", "row_major" } },
    { "11", "B's fragments not transposed", "ldmatrix_trans(b[j]", "ldmatrix(b[j]", "",
      { "8 x 8 of B are transposed", ".trans" } },
    { "11", "registers of A's fragment swapped", "\"r\"(a[1]), \"r\"(a[2])", "\"r\"(a[2]), \"r\"(a[1])", "",
      { "16 x 16 of A", "quarter" } },
    { "11", "lanes of C's fragment", "lane / 4, c = j * 16 + q / 2 * 8 + lane % 4 * 2",
      "lane % 8, c = j * 16 + q / 2 * 8 + lane / 8 * 2", "", { "rows of C" } },

    // --- Swizzle and stages ---
    { "12", "As read without its swizzle", "ai = swizzle<LDA>(row + trow, tcol)", "ai = (row + trow) * LDA + tcol", "",
      { "chunks of A", "swizzle" } },
    { "12", "across with + in place of ^", "(bi ^ j * 16)", "(bi + j * 16)", "", { "B", "swizzle" } },
    { "07", "the tile that is read is overwritten", "put(1 - stage);", "put(stage);", "", { "race" } },
    { "10", "the stage does not change", "                stage = STAGE - stage;", "", "", { "stage" } },

    // --- alpha and beta ---
    { "02", "alpha left out", "bcol + col, alpha, acc, beta)", "bcol + col, REAL(1), acc, beta)", "--alpha 0.5",
      { "alpha is missing" } },
    { "03", "alpha in the loop and at the store", "acc[i] += As[row + i][k] * b;", "acc[i] += alpha * As[row + i][k] * b;",
      "--alpha 0.5", { "alpha is applied twice" } },
    { "05", "alpha and beta swapped", "&acc[i][j], beta);", "&acc[i][j], alpha);", "--alpha 2 --beta 0.5",
      { "alpha stands where beta belongs" } },
    { "08", "beta left out", "&Cs[r * LDC + ccol], beta)", "&Cs[r * LDC + ccol], 0)", "--beta 2",
      { "beta * C0 is missing" } },

    // --- Rounding ---
    { "12", "sums kept in half", "mma(acc[i][j], a[i], b[j]);",
      "{ mma(acc[i][j], a[i], b[j]); for (float &x : acc[i][j]) x = float(half(x)); }", "",
      { "the sum is rounded to half" } },
    { "09", "the sum rounded before alpha", "wmma::store_matrix_sync(&Cs[row",
      "for (float &x : acc[i][j].x) x = float(half(x)); for (int once = 0; once < 1; once++) wmma::store_matrix_sync(&Cs[row",
      "--alpha 0.3 --beta 1", { "rounded to half before alpha" } },
};
const size_t n_kernel_edits = sizeof kernel_edits / sizeof *kernel_edits;
