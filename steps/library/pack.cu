// What the library runs around a product of floats whose rows do not begin at multiples of 16 bytes.

constexpr int THREADS = 256, EACH = 4;  // of a block, and columns that a thread copies
constexpr int COLS = THREADS * EACH;    // that a block copies of a row

// Copies a matrix into one of at least as many rows and columns, `ld` elements from row to row; what it has more is 0.
// Block x, y copies COLS columns of row x. Neighbouring threads have neighbouring columns in each of EACH accesses.
extern "C" __global__ void __launch_bounds__(THREADS)
pack4(int rows, int cols, const float *from, int ld, float *to)
{
    const int row = blockIdx.x, first = blockIdx.y * COLS + threadIdx.x;
    float v[EACH];
    for (int i = 0; i < EACH; i++) {
        const int col = first + i * THREADS;
        v[i] = row < rows && col < cols ? from[size_t(row) * cols + col] : 0;
    }
    for (int i = 0; i < EACH; i++) {
        const int col = first + i * THREADS;
        if (col < ld)
            to[size_t(row) * ld + col] = v[i];
    }
}

// C = P + beta * C. P has rows that are `ld` elements apart, C has rows x cols elements. If beta is 0, C is not read.
extern "C" __global__ void __launch_bounds__(THREADS)
finish4(int cols, const float *P, int ld, float beta, float *C)
{
    const int row = blockIdx.x, first = blockIdx.y * COLS + threadIdx.x;
    float v[EACH];
    for (int i = 0; i < EACH; i++) {
        const int col = first + i * THREADS;
        v[i] = col < cols ? P[size_t(row) * ld + col] : 0;
        if (beta != 0 && col < cols)
            v[i] += beta * C[size_t(row) * cols + col];
    }
    for (int i = 0; i < EACH; i++) {
        const int col = first + i * THREADS;
        if (col < cols)
            C[size_t(row) * cols + col] = v[i];
    }
}
