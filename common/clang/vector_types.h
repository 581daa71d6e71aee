// float4, uint2, dim3 and the others: two to four numbers, aligned so that one access takes them all where the hardware
// has such an access. Source: CUDA C++ Programming Guide 13.0, section 10.3 (built-in vector types) and its alignments.
#pragma once

// What has 16 bytes is assigned as one of clang's own vectors, which makes one access of it. A copy of a struct is two.
#define CLANG_ASSIGN_2(type, name)                                                                                     \
    __host__ __device__ CLANG_INLINE name &operator=(const name &v)                                                    \
    {                                                                                                                  \
        typedef type vector __attribute__((ext_vector_type(2), may_alias));                                            \
        *reinterpret_cast<vector *>(this) = vector{ v.x, v.y };                                                        \
        return *this;                                                                                                  \
    }
#define CLANG_ASSIGN_4(type, name)                                                                                     \
    __host__ __device__ CLANG_INLINE name &operator=(const name &v)                                                    \
    {                                                                                                                  \
        typedef type vector __attribute__((ext_vector_type(4), may_alias));                                            \
        *reinterpret_cast<vector *>(this) = vector{ v.x, v.y, v.z, v.w };                                              \
        return *this;                                                                                                  \
    }
#define CLANG_ASSIGN(type, name)

#define CLANG_VECTORS(type, name, align2, align4, assign2, assign4)                                                    \
    struct name##1                                                                                                     \
    {                                                                                                                  \
        type x;                                                                                                        \
    };                                                                                                                 \
    struct __align__(align2) name##2                                                                                   \
    {                                                                                                                  \
        type x, y;                                                                                                     \
        assign2(type, name##2)                                                                                         \
    };                                                                                                                 \
    struct name##3                                                                                                     \
    {                                                                                                                  \
        type x, y, z;                                                                                                  \
    };                                                                                                                 \
    struct __align__(align4) name##4                                                                                   \
    {                                                                                                                  \
        type x, y, z, w;                                                                                               \
        assign4(type, name##4)                                                                                         \
    };                                                                                                                 \
    __host__ __device__ CLANG_INLINE inline name##1 make_##name##1(type x)                                             \
    {                                                                                                                  \
        return { x };                                                                                                  \
    }                                                                                                                  \
    __host__ __device__ CLANG_INLINE inline name##2 make_##name##2(type x, type y)                                     \
    {                                                                                                                  \
        return { x, y };                                                                                               \
    }                                                                                                                  \
    __host__ __device__ CLANG_INLINE inline name##3 make_##name##3(type x, type y, type z)                             \
    {                                                                                                                  \
        return { x, y, z };                                                                                            \
    }                                                                                                                  \
    __host__ __device__ CLANG_INLINE inline name##4 make_##name##4(type x, type y, type z, type w)                     \
    {                                                                                                                  \
        return { x, y, z, w };                                                                                         \
    }

CLANG_VECTORS(signed char, char, 2, 4, CLANG_ASSIGN, CLANG_ASSIGN)
CLANG_VECTORS(unsigned char, uchar, 2, 4, CLANG_ASSIGN, CLANG_ASSIGN)
CLANG_VECTORS(short, short, 4, 8, CLANG_ASSIGN, CLANG_ASSIGN)
CLANG_VECTORS(unsigned short, ushort, 4, 8, CLANG_ASSIGN, CLANG_ASSIGN)
CLANG_VECTORS(int, int, 8, 16, CLANG_ASSIGN, CLANG_ASSIGN_4)
CLANG_VECTORS(unsigned, uint, 8, 16, CLANG_ASSIGN, CLANG_ASSIGN_4)
CLANG_VECTORS(float, float, 8, 16, CLANG_ASSIGN, CLANG_ASSIGN_4)
CLANG_VECTORS(long long, longlong, 16, 16, CLANG_ASSIGN_2, CLANG_ASSIGN)
CLANG_VECTORS(unsigned long long, ulonglong, 16, 16, CLANG_ASSIGN_2, CLANG_ASSIGN)
CLANG_VECTORS(double, double, 16, 16, CLANG_ASSIGN_2, CLANG_ASSIGN)
#undef CLANG_VECTORS
#undef CLANG_ASSIGN_2
#undef CLANG_ASSIGN_4
#undef CLANG_ASSIGN

struct dim3 {
    unsigned x, y, z;
    __host__ __device__ CLANG_INLINE constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z)
    {
    }
    __host__ __device__ CLANG_INLINE constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __host__ __device__ CLANG_INLINE operator uint3() const
    {
        return { x, y, z };
    }
};
