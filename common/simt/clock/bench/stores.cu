// Stores of whole and of partial sectors of 32 bytes, and atomic additions: what a warp's instruction costs an SM.
#include "timing.h"

// --- stores ---

// Lane l of a warp stores WIDTH bytes at l * stride. Each store of a warp lies `next` bytes behind its last one; a warp
// has `span` bytes for itself and begins again at their end.
template <int WIDTH>
__global__ void __launch_bounds__(1024) store(unsigned char *to, int stride, int next, unsigned span, int rounds)
{
    const size_t warp = (size_t(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
    const u64 base = u64(to) + warp * span + threadIdx.x % 32 * stride;
    unsigned at = 0;
#pragma unroll 4
    for (int i = 0; i < rounds; i++) {
        const u64 where = base + at;
        if (WIDTH == 1)
            asm volatile("st.global.u8 [%0], %1;" ::"l"(where), "r"(i) : "memory");
        if (WIDTH == 2)
            asm volatile("st.global.u16 [%0], %1;" ::"l"(where), "h"(short(i)) : "memory");
        if (WIDTH == 4)
            asm volatile("st.global.u32 [%0], %1;" ::"l"(where), "r"(i) : "memory");
        if (WIDTH == 8)
            asm volatile("st.global.v2.u32 [%0], {%1, %1};" ::"l"(where), "r"(i) : "memory");
        if (WIDTH == 16)
            asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(where), "r"(i) : "memory");
        at += next;
        at = at < span ? at : 0;
    }
}

// Cycles that an SM takes for a store of a warp, on `blocks` SMs. span: of a warp.
template <int WIDTH>
static void one_store(const char *name, int stride, int next, unsigned span, int blocks, int shift = 0)
{
    unsigned char *to = reinterpret_cast<unsigned char *>(field) + shift;
    const int few = 64, many = 320, warps = 32;
    double us[2];
    for (int i = 0; i < 2; i++)
        us[i] = time_us([&] { store<WIDTH><<<blocks, 32 * warps>>>(to, stride, next, span, i ? many : few); }, READ, 3);
    row("store_" + std::string(name) + "_" + std::to_string(WIDTH) + "_bytes_stride_" + std::to_string(stride) + "_" +
            std::to_string(blocks) + "_sms",
        "cycles of an SM at 1.98 GHz", (us[1] - us[0]) * 1980 / (many - few) / warps);
}

static void stores()
{
    for (int blocks : { 1, 16, sms }) {
        // Over and over the same few KB, that L2 keeps.
        one_store<4>("again", 4, 128, 512, blocks);
        one_store<8>("again", 8, 256, 1024, blocks);
        one_store<16>("again", 16, 512, 1024, blocks);
        one_store<1>("again", 1, 32, 128, blocks);
        one_store<2>("again", 2, 64, 256, blocks);
        one_store<16>("again", 32, 1024, 1024, blocks);
        one_store<8>("again", 32, 1024, 1024, blocks);
        one_store<4>("again", 32, 1024, 1024, blocks);
        one_store<1>("again", 32, 1024, 1024, blocks);
        one_store<4>("again", 8, 256, 1024, blocks);
        one_store<4>("again", 16, 512, 1024, blocks);
        one_store<4>("again", 128, 4096, 4096, blocks);
        one_store<8>("again", 128, 4096, 4096, blocks);
        one_store<16>("again", 128, 4096, 4096, blocks);
        // Each part of a sector once, one after the other, as a transposition does: sectors are filled up.
        one_store<4>("fill", 32, 4, 32768, blocks);
        one_store<4>("fill", 128, 4, 131072, blocks);
        one_store<4>("fill", 4096, 4, 131072, blocks);
        one_store<16>("fill", 4096, 16, 131072, blocks);
        // Sectors that are never filled up, and whole ones, more of them than L2 holds.
        one_store<4>("new", 32, 1024, 327680, blocks);
        one_store<4>("new", 128, 4096, 327680, blocks);
        one_store<16>("new", 32, 1024, 327680, blocks);
        one_store<4>("new", 4, 128, 327680, blocks);
        one_store<16>("new", 16, 512, 327680, blocks);
        // Rows that begin in the middle of a sector: the first and the last one of a store are partial.
        one_store<4>("shifted_again", 4, 128, 512, blocks, 4);
        one_store<4>("shifted", 4, 128, 327680, blocks, 4);
        one_store<16>("shifted", 16, 512, 327680, blocks, 16);
    }
}

// --- atomic additions ---

// SHARED_INC: one is added, for which there is an instruction.
enum { RED_INT, RED_FLOAT, ATOM_INT, ATOM_FLOAT, SHARED_INC, SHARED_INT, SHARED_ATOM_INT, SHARED_FLOAT };
static const char *const ops[] = { "red_int",    "red_float",  "atom_int",        "atom_float",
                                   "shared_inc", "shared_int", "shared_atom_int", "shared_float" };

// WHERE a lane adds: 0 all lanes and warps to one address, 1 lane 0 of each warp to it, 2 lanes side by side, all warps
// the same, 3 side by side, each warp elsewhere, 4 each lane in a sector of its own, each warp elsewhere, 5 lanes two
// by two at the same address, side by side.
template <int OP, int WHERE> __global__ void __launch_bounds__(1024) add(unsigned *to, int rounds)
{
    __shared__ unsigned words[8192];
    const unsigned lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    for (unsigned i = threadIdx.x; i < 8192; i += blockDim.x)
        words[i] = 0;
    __syncthreads();
    unsigned at = WHERE == 2 ? lane : WHERE == 3 ? warp * 32 + lane : WHERE == 4 ? (warp * 32 + lane) * 8 : 0;
    at = WHERE == 5 ? warp * 32 + lane / 2 : at;
    const unsigned near = unsigned(__cvta_generic_to_shared(words)) + at % 8192 * 4;
    const u64 far = u64(to + at);
    if (WHERE == 1 && lane)
        return;
    unsigned x = 1, old = 0, sum = 0;
    float f = 1, g = 0, all = 0;
#pragma unroll 4
    for (int i = 0; i < rounds; i++) {
        if (OP == RED_INT)
            asm volatile("red.global.add.u32 [%0], %1;" ::"l"(far), "r"(x) : "memory");
        if (OP == RED_FLOAT)
            asm volatile("red.global.add.f32 [%0], %1;" ::"l"(far), "f"(f) : "memory");
        if (OP == ATOM_INT)
            asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(far), "r"(x) : "memory");
        if (OP == SHARED_INT || OP == SHARED_INC)
            asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(near), "r"(x) : "memory");
        if (OP == SHARED_ATOM_INT)
            asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(old) : "r"(near), "r"(x) : "memory");
        if (OP == SHARED_FLOAT)
            asm volatile("atom.shared.add.f32 %0, [%1], %2;" : "=f"(g) : "r"(near), "f"(f) : "memory");
        if (OP == ATOM_FLOAT)
            asm volatile("atom.global.add.f32 %0, [%1], %2;" : "=f"(g) : "l"(far), "f"(f) : "memory");
        if (OP != SHARED_INC)
            x++;
        sum += old;
        all += g;
    }
    if (sum == 0x12345678 || all == -3)
        to[1 << 20] = sum;
}

template <int OP, int WHERE> static void one_add(int blocks, int warps)
{
    static const char *const places[] = { "one_address",  "one_address_lane_0", "same_line",
                                          "side_by_side", "own_sector",         "two_by_two" };
    const int few = 64, many = OP >= SHARED_INC ? 1088 : 192;
    double us[2];
    for (int i = 0; i < 2; i++)
        us[i] = time_us([&] { add<OP, WHERE><<<blocks, 32 * warps>>>((unsigned *)field, i ? many : few); }, READ, 3);
    row("add_" + std::string(ops[OP]) + "_" + places[WHERE] + "_" + std::to_string(blocks) + "_sms_" +
            std::to_string(warps) + "_warps",
        "cycles of an SM at 1.98 GHz", (us[1] - us[0]) * 1980 / (many - few) / warps);
}

template <int OP> static void far_adds()
{
    for (int blocks : { 1, sms }) {
        one_add<OP, 0>(blocks, 8);
        one_add<OP, 1>(blocks, 8);
        one_add<OP, 2>(blocks, 8);
        one_add<OP, 3>(blocks, 32);
        one_add<OP, 4>(blocks, 32);
        one_add<OP, 5>(blocks, 32);
    }
}

template <int OP> static void near_adds()
{
    for (int warps : { 1, 32 }) {
        one_add<OP, 0>(1, warps);
        one_add<OP, 1>(1, warps);
        one_add<OP, 2>(1, warps);
        one_add<OP, 3>(1, warps);
        one_add<OP, 4>(1, warps);
        one_add<OP, 5>(1, warps);
    }
}

// All lanes below `lanes` of a warp add to one word; next to the word `step` words farther on, of `words`, over and
// over.
template <bool FLOAT>
__global__ void __launch_bounds__(1024) walk_add(unsigned *to, int words, int step, int rounds, int lanes)
{
    if (threadIdx.x % 32 >= lanes)
        return;
    int at = 0;
#pragma unroll 4
    for (int i = 0; i < rounds; i++) {
        const u64 where = u64(to + size_t(at) * step);
        if (FLOAT)
            asm volatile("red.global.add.f32 [%0], %1;" ::"l"(where), "f"(1.0f) : "memory");
        else
            asm volatile("red.global.add.u32 [%0], %1;" ::"l"(where), "r"(i) : "memory");
        at = at + 1 < words ? at + 1 : 0;
    }
}

template <bool FLOAT> static void adds(int words, int step, int blocks, int warps, int lanes = 32)
{
    unsigned *to = (unsigned *)field;
    const int few = 512, many = 2048;
    double us[2];
    for (int i = 0; i < 2; i++)
        us[i] = time_us([&] { walk_add<FLOAT><<<blocks, 32 * warps>>>(to, words, step, i ? many : few, lanes); },
                        ITSELF, 3);
    row("add_walk_" + std::string(FLOAT ? "float" : "int") + "_" + std::to_string(words) + "_words_step_" +
            std::to_string(step * 4) + "_" + std::to_string(blocks) + "_sms_" + std::to_string(warps) + "_warps_" +
            std::to_string(lanes) + "_lanes",
        "cycles of an SM at 1.98 GHz", (us[1] - us[0]) * 1980 / (many - few) / warps);
}

static void walks()
{
    for (int step : { 1, 8, 32, 1024 })
        for (int blocks : { 1, 32, sms })
            adds<true>(768, step, blocks, 8);
    for (int blocks : { 2, 4, 8, 16 })
        adds<true>(768, 1, blocks, 8);
    adds<true>(768, 1, 32, 1);
    adds<true>(768, 8, 32, 1);
    adds<true>(768, 1, 32, 32);
    adds<true>(16, 1, sms, 8);
    adds<true>(16, 32, sms, 8);
    adds<true>(768, 1, sms, 8, 1);
    adds<true>(768, 32, sms, 8, 1);
    adds<false>(768, 1, 32, 8);
    adds<false>(768, 1, sms, 8);
    adds<false>(768, 32, sms, 8);
    adds<false>(768, 1, sms, 8, 1);
}

void measure_stores()
{
    stores();
    far_adds<RED_INT>();
    far_adds<RED_FLOAT>();
    far_adds<ATOM_INT>();
    far_adds<ATOM_FLOAT>();
    near_adds<SHARED_INC>();
    near_adds<SHARED_INT>();
    near_adds<SHARED_ATOM_INT>();
    near_adds<SHARED_FLOAT>();
    walks();
}
