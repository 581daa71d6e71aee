// What the kernels of plain.cu are given, on both sides. Distances are in elements: between rows, between columns, and
// to the next of a batch.
#pragma once

enum { PLAIN_THREADS = 256 };
enum plain_search { PLAIN_SUM, PLAIN_LARGEST, PLAIN_SMALLEST };

struct plain_steps {
    long long row, column, stride;
};

struct plain_gemm {
    long long m, n, k, batch;
    double alpha, beta;
    const double *A, *B;
    double *C;
    struct plain_steps a, b, c;
};

struct plain_add {
    long long m, n;
    double alpha, beta;
    const void *A, *B;
    void *C;
    struct plain_steps a, b, c;
};
