// Exercise 5b: wide banks. How many wavefronts does one load or store of a warp take? Say so first, then count.
//
// Shared memory as words of 4 bytes: word w is in bank w % 32. Rows of the patterns below are measured in words too.
constexpr int WORDS = 32 * 34;
__shared__ __align__(128) int s[WORDS];

// >>> yours, 1 line: how many wavefronts do patterns 1 to 8 take?
__constant__ int predicted[8] = { 2, 8, 4, 2, 4, 32, 2, 8 };
// --- stub
//| __constant__ int predicted[8] = { 0, 0, 0, 0, 0, 0, 0, 0 };
// --- bug one wavefront each: "pattern 1 (load, 64 bits): not 1" "pattern 7 (load, 64 bits): not 1" "half-warps"
//| __constant__ int predicted[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
// --- bug bytes over 128: "pattern 2 (load, 128 bits): not 4" "pattern 6 (load, 64 bits): not 2"
//| __constant__ int predicted[8] = { 2, 4, 4, 4, 4, 2, 2, 4 };
// --- bug counted over the whole warp: "pattern 3 (load, 128 bits): not 1" "one quarter after the other"
//| __constant__ int predicted[8] = { 2, 8, 1, 2, 2, 32, 2, 4 };
// --- bug 8 lanes share a bank, four times: "pattern 2 (load, 128 bits): not 32" "Which of lanes 0, 4, 8, ... 28"
//| __constant__ int predicted[8] = { 2, 32, 4, 2, 4, 32, 2, 8 };
// --- bug stores merge like loads: "pattern 5 (store, 128 bits): not 2" "never merged"
//| __constant__ int predicted[8] = { 2, 8, 4, 2, 2, 32, 2, 8 };
// --- bug loads do not merge: "pattern 4 (load, 128 bits): not 4" "lane i ^ 1"
//| __constant__ int predicted[8] = { 2, 8, 4, 4, 4, 32, 2, 8 };
// --- bug any two quarters merge: "pattern 3 (load, 128 bits): not 2" "lane 1 or lane 2"
//| __constant__ int predicted[8] = { 2, 8, 2, 2, 4, 32, 2, 8 };
// --- bug 16 lanes meet, once: "pattern 6 (load, 64 bits): not 16" "lanes 16 to 31"
//| __constant__ int predicted[8] = { 2, 8, 4, 2, 4, 16, 2, 8 };
// --- bug padding takes all conflicts away: "pattern 8 (store, 128 bits): not 4" "modulo 128"
//| __constant__ int predicted[8] = { 2, 8, 4, 2, 4, 32, 2, 4 };
// <<<

// A warp loads a T each, lane by lane from the word that it names.
template <class T> __device__ void load(int word, T *out)
{
    for (int i = threadIdx.x; i < WORDS; i += 32)
        s[i] = i;
    __syncwarp();  // all is there before anyone reads it
    out[threadIdx.x] = *reinterpret_cast<T *>(&s[word]);  // the access
}

// The same for a store; where two lanes name one word, they store the same there.
template <class T> __device__ void store(int word, int *out)
{
    T x;
    for (int i = 0; i < int(sizeof x / sizeof *s); i++)
        reinterpret_cast<int *>(&x)[i] = word + i;
    for (int i = threadIdx.x; i < WORDS; i += 32)
        s[i] = -1;
    __syncwarp();
    *reinterpret_cast<T *>(&s[word]) = x;  // the access
    __syncwarp();  // all is stored before anyone reads it
    for (int i = threadIdx.x; i < WORDS; i += 32)
        out[i] = s[i];
}

// 1. Load, 64 bits: lane i takes the i-th double of a row.
extern "C" __global__ void pattern_1(int2 *out)
{
    load(2 * threadIdx.x, out);
}

// 2. Load, 128 bits: lane i takes columns 8 i to 8 i + 3 of a row of floats, as step 04 reads Bs.
extern "C" __global__ void pattern_2(int4 *out)
{
    load(8 * threadIdx.x, out);
}

// 3. Load, 128 bits: lanes 8 apart want the same. Lane i takes columns 4 (i % 8) to 4 (i % 8) + 3.
extern "C" __global__ void pattern_3(int4 *out)
{
    load(4 * (threadIdx.x % 8), out);
}

// 4. Load, 128 bits: neighbours want the same. Lane i takes columns 4 (i / 2) to 4 (i / 2) + 3.
extern "C" __global__ void pattern_4(int4 *out)
{
    load(4 * (threadIdx.x / 2), out);
}

// 5. Store, 128 bits: where pattern 4 loads.
extern "C" __global__ void pattern_5(int *out)
{
    store<int4>(4 * (threadIdx.x / 2), out);
}

// 6. Load, 64 bits: a column of a tile of doubles, 16 in a row. Lane i takes the first of row i.
extern "C" __global__ void pattern_6(int2 *out)
{
    load(2 * 16 * threadIdx.x, out);
}

// 7. The same with rows padded to 17 doubles.
extern "C" __global__ void pattern_7(int2 *out)
{
    load(2 * 17 * threadIdx.x, out);
}

// 8. Store, 128 bits: 16 rows of 16 halves, padded to 24, as a tile is filled for ldmatrix. Lanes 2 r and 2 r + 1 store
//    row r, 8 halves each. A half is half a word.
extern "C" __global__ void pattern_8(int *out)
{
    store<int4>(24 / 2 * (threadIdx.x / 2) + 8 / 2 * (threadIdx.x % 2), out);
}

extern "C" __global__ void predictions(int *out)
{
    out[threadIdx.x] = predicted[threadIdx.x];
}
