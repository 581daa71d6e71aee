// What the library runs around its product of floats: copies of A and B whose rows begin at multiples of 16 bytes, and
// the sum of the parts of a split K.

constexpr int EACH = 4;  // columns of a thread, blockDim.x apart: neighbouring threads have neighbouring columns

// Copies a matrix into rows that are `ld` elements apart. Its first column becomes column `begin`; what is before it or
// past the last one is 0. A block has a row, or EACH * blockDim.x columns of it: block x is the row, block y counts
// along it.
extern "C" __global__ void pack4(int cols, const float *from, int ld, int begin, float *to)
{
    const int first = blockIdx.y * EACH * blockDim.x + threadIdx.x;
    from += size_t(blockIdx.x) * cols, to += size_t(blockIdx.x) * ld;
    float v[EACH];
    for (int i = 0; i < EACH; i++) {
        const int col = first + i * blockDim.x;
        v[i] = col >= begin && col - begin < cols ? from[col - begin] : 0;
    }
    for (int i = 0; i < EACH; i++) {
        const int col = first + i * blockDim.x;
        if (col < ld)
            to[col] = v[i];
    }
}

// C = P[0] + P[1] + ... + beta * C. Each of `parts` matrices P has `rows` rows that are `ld` elements apart, C has `cols`
// columns. If beta is 0, C is not read. Blocks as in pack4.
extern "C" __global__ void sum4(int rows, int cols, int parts, const float *P, int ld, float beta, float *C)
{
    const int first = blockIdx.y * EACH * blockDim.x + threadIdx.x;
    P += size_t(blockIdx.x) * ld, C += size_t(blockIdx.x) * cols;
    float v[EACH];
    for (int i = 0; i < EACH; i++) {
        const int col = first + i * blockDim.x;
        v[i] = beta != 0 && col < cols ? beta * C[col] : 0;
    }
    for (int z = 0; z < parts; z++, P += size_t(rows) * ld)
        for (int i = 0; i < EACH; i++) {
            const int col = first + i * blockDim.x;
            v[i] += col < cols ? P[col] : 0;
        }
    for (int i = 0; i < EACH; i++) {
        const int col = first + i * blockDim.x;
        if (col < cols)
            C[col] = v[i];
    }
}
