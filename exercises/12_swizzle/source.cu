// Exercise 12: the swizzle. Chunks of a row in another order in each row, so that ldmatrix meets no bank conflicts.

// One column for each pitch of a tile, in halves:
//                       16 32 64 128
// >>> yours, 3 lines: how many bits are changed, the lowest of them, and how much higher those are that change them
constexpr int BITS[]  = { 1, 2, 3, 3 };  // B
constexpr int BASE[]  = { 3, 3, 3, 3 };  // M
constexpr int SHIFT[] = { 3, 3, 3, 4 };  // S
// --- stub
//| constexpr int BITS[]  = { 0, 0, 0, 0 };  // B
//| constexpr int BASE[]  = { 0, 0, 0, 0 };  // M
//| constexpr int SHIFT[] = { 0, 0, 0, 0 };  // S
// --- bug chunks of 4 halves: "chunk 0 of row 2 is torn: it begins at half 36" "M is the first bit above them"
//| constexpr int BITS[]  = { 1, 2, 3, 3 };  // B
//| constexpr int BASE[]  = { 2, 2, 2, 2 };  // M
//| constexpr int SHIFT[] = { 3, 3, 3, 4 };  // S
// --- bug B and S exchanged: "pitch of 16 halves" "leaves its row"
//| constexpr int BITS[]  = { 3, 3, 3, 4 };  // B
//| constexpr int BASE[]  = { 3, 3, 3, 3 };  // M
//| constexpr int SHIFT[] = { 1, 2, 3, 3 };  // S
// --- bug one bit at every pitch: "right result, but" "pitch of 32 halves" "8 wavefronts where 4 are possible" "B = 1"
//| constexpr int BITS[]  = { 1, 1, 1, 1 };  // B
//| constexpr int BASE[]  = { 3, 3, 3, 3 };  // M
//| constexpr int SHIFT[] = { 3, 3, 3, 4 };  // S
// --- bug one shift for every pitch: "right result, but" "pitch of 128 halves" "S = 3" "takes 8 wavefronts"
//| constexpr int BITS[]  = { 1, 2, 3, 3 };  // B
//| constexpr int BASE[]  = { 3, 3, 3, 3 };  // M
//| constexpr int SHIFT[] = { 3, 3, 3, 3 };  // S
// --- bug S counted from bit 0: "right result, but" "pitch of 16 halves" "S = 6" "S is how far they are above"
//| constexpr int BITS[]  = { 1, 2, 3, 3 };  // B
//| constexpr int BASE[]  = { 3, 3, 3, 3 };  // M
//| constexpr int SHIFT[] = { 6, 6, 6, 7 };  // S
// --- bug three bits at every pitch: "pitch of 16 halves" "leaves its row"
//| constexpr int BITS[]  = { 3, 3, 3, 3 };  // B
//| constexpr int BASE[]  = { 3, 3, 3, 3 };  // M
//| constexpr int SHIFT[] = { 3, 3, 3, 4 };  // S
// <<<

// Where the half with index i of a tile lies, i = row * pitch + column: bits M to M + B - 1 of i XORed with the B bits
// that are S higher.
template <int B, int M, int S> __device__ int swizzle(int i)
{
    // >>> yours, 1 line
    return i ^ (i >> S & ((1 << B) - 1) << M);
    // --- stub
    //| return i;
    // --- bug OR in place of XOR: "in one place" "row 4, column 0" "row 4, column 8"
    //| return i | (i >> S & ((1 << B) - 1) << M);
    // --- bug + in place of XOR: "in one place" "row 7, column 8" "row 8, column 0"
    //| return i + (i >> S & ((1 << B) - 1) << M);
    // --- bug the mask before the shift: "chunk 1 of row 0 is torn: it begins at half 9"
    //| return i ^ (i & ((1 << B) - 1) << M) >> S;
    // --- bug padding in its place: "outside of the tile" "not a byte more"
    //| return i + (i >> S + M << M);
    // <<<
}

constexpr int ROWS = 32;

// A warp copies a tile of ROWS x PITCH halves into shared memory, reads it as fragments with ldmatrix, 16 x 16 at a
// time, and puts each half back where it belongs: out is to be equal to in.
template <int B, int M, int S, int PITCH> __device__ void there_and_back(const unsigned short *in, unsigned short *out)
{
    __shared__ __align__(128) unsigned short tile[ROWS * PITCH];
    const int lane = threadIdx.x;
    const int trow = lane % 16, tcol = lane / 16 * 8;  // whose address this lane gives of a 16 x 16 tile

    // --- Load ---
    for (int i = lane * 8; i < ROWS * PITCH; i += 32 * 8)
        *reinterpret_cast<uint4 *>(&tile[swizzle<B, M, S>(i)]) = *reinterpret_cast<const uint4 *>(&in[i]);
    __syncwarp();  // the tile is complete before anyone reads it

    for (int row = 0; row < ROWS; row += 16)
        for (int col = 0; col < PITCH; col += 16) {
            unsigned x[4];
            // >>> yours, 1 line: the place of the 8 halves from row + trow, col + tcol on
            const int at = swizzle<B, M, S>((row + trow) * PITCH + col + tcol);
            // --- stub
            //| const int at = (row + trow) * PITCH + col + tcol;
            // --- bug read where they were before the swizzle: "holds the half of row 4, column 8" "written through"
            //| const int at = (row + trow) * PITCH + col + tcol;
            // --- bug the column is added afterwards: "pitch_32" "out of bounds" "&tile[at]"
            //| const int at = swizzle<B, M, S>((row + trow) * PITCH + tcol) + col;
            // <<<
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                         : "r"(unsigned(__cvta_generic_to_shared(&tile[at]))));
            // Lane 4 * r + c / 2 holds columns c and c + 1 of row r of each 8 x 8 matrix.
            for (int q = 0; q < 4; q++)
                *reinterpret_cast<unsigned *>(
                    &out[(row + q % 2 * 8 + lane / 4) * PITCH + col + q / 2 * 8 + lane % 4 * 2]) = x[q];
        }
}

// What the check asks: B, M and S, then the place of each half of the tile.
template <int B, int M, int S, int PITCH> __device__ void answers(int *out)
{
    if (threadIdx.x == 0)
        out[0] = B, out[1] = M, out[2] = S;
    for (int i = threadIdx.x; i < ROWS * PITCH; i += 32)
        out[3 + i] = swizzle<B, M, S>(i);
}

extern "C" __global__ void pitch_16(const unsigned short *in, unsigned short *out)
{
    there_and_back<BITS[0], BASE[0], SHIFT[0], 16>(in, out);
}

extern "C" __global__ void places_16(int *out)
{
    answers<BITS[0], BASE[0], SHIFT[0], 16>(out);
}

extern "C" __global__ void pitch_32(const unsigned short *in, unsigned short *out)
{
    there_and_back<BITS[1], BASE[1], SHIFT[1], 32>(in, out);
}

extern "C" __global__ void places_32(int *out)
{
    answers<BITS[1], BASE[1], SHIFT[1], 32>(out);
}

extern "C" __global__ void pitch_64(const unsigned short *in, unsigned short *out)
{
    there_and_back<BITS[2], BASE[2], SHIFT[2], 64>(in, out);
}

extern "C" __global__ void places_64(int *out)
{
    answers<BITS[2], BASE[2], SHIFT[2], 64>(out);
}

extern "C" __global__ void pitch_128(const unsigned short *in, unsigned short *out)
{
    there_and_back<BITS[3], BASE[3], SHIFT[3], 128>(in, out);
}

extern "C" __global__ void places_128(int *out)
{
    answers<BITS[3], BASE[3], SHIFT[3], 128>(out);
}
