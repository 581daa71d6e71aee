// Products of wgmma as in common/hopper.cuh. Types and orders of a and b are words of the instruction. Here they are those of
// halves, neither A nor B transposed; kernels.c writes other words when it loads the PTX.
#pragma once
#include <cstdint>

#if ACROSS  // whose first operand is B, with lines along N, and whose second is A, with lines along K
#define WGMMA_ORDER "1, 0"
#else
#define WGMMA_ORDER "0, 1"
#endif

// The names of ten operands, and what eight and 32 of them stand for.
#define TEN(d) "%" d "0, %" d "1, %" d "2, %" d "3, %" d "4, %" d "5, %" d "6, %" d "7, %" d "8, %" d "9, "
#define D8(i)                                                                                                          \
    "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]),        \
        "+f"(d[i + 7])
#define D32(i) D8(i), D8(i + 8), D8(i + 16), D8(i + 24)

// d[64][N] = a[64][16] * b[16][N], + d if add is not 0; names: of N / 2 operands, then of a, b and add.
#define WGMMA(N, names, A, B, ADD, ...)                                                                                \
    __device__ __forceinline__ void wgmma_any(float (&d)[N / 2], uint64_t a, uint64_t b, int add)                      \
    {                                                                                                                  \
        asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, " ADD ", 0;\n"                                              \
                     "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.f16.f16 {" names "}, " A ", " B           \
                     ", add, 1, 1, " WGMMA_ORDER ";\n}"                                                                \
                     : __VA_ARGS__                                                                                     \
                     : "l"(a), "l"(b), "r"(add));                                                                      \
    }
#define TO_29 TEN("") TEN("1") TEN("2")
#define TO_59 TO_29 TEN("3") TEN("4") TEN("5")
#define TO_89 TO_59 TEN("6") TEN("7") TEN("8")
#define TO_119 TO_89 TEN("9") TEN("10") TEN("11")
WGMMA(32, TEN("") "%10, %11, %12, %13, %14, %15", "%16", "%17", "%18", D8(0), D8(8))
WGMMA(64, TO_29 "%30, %31", "%32", "%33", "%34", D32(0))
WGMMA(96, TO_29 TEN("3") "%40, %41, %42, %43, %44, %45, %46, %47", "%48", "%49", "%50", D32(0), D8(32), D8(40))
WGMMA(128, TO_59 "%60, %61, %62, %63", "%64", "%65", "%66", D32(0), D32(32))
WGMMA(160, TO_59 TEN("6") "%70, %71, %72, %73, %74, %75, %76, %77, %78, %79", "%80", "%81", "%82", D32(0), D32(32), D8(64), D8(72))
WGMMA(192, TO_89 "%90, %91, %92, %93, %94, %95", "%96", "%97", "%98", D32(0), D32(32), D32(64))
WGMMA(224, TO_89 TEN("9") TEN("10") "%110, %111", "%112", "%113", "%114", D32(0), D32(32), D32(64), D8(96), D8(104))
WGMMA(256, TO_119 "%120, %121, %122, %123, %124, %125, %126, %127", "%128", "%129", "%130", D32(0), D32(32),
      D32(64), D32(96))
