// What a kernel's text needs when it is tried in other words (common/tester/mend.h): a + mend_at<...>() + b is a + b, or
// what mend_choice says.
#pragma once

extern "C" __constant__ int mend_choice = 0;  // 0: the kernel as it is

template <class T> struct mend_type { static constexpr bool whole = false, number = false; };
template <> struct mend_type<float> { static constexpr bool whole = false, number = true; };
template <> struct mend_type<double> { static constexpr bool whole = false, number = true; };
#define MEND_WHOLE(T) template <> struct mend_type<T> { static constexpr bool whole = true, number = true; };
MEND_WHOLE(bool)
MEND_WHOLE(int)
MEND_WHOLE(unsigned)
MEND_WHOLE(long)
MEND_WHOLE(unsigned long)
MEND_WHOLE(long long)
MEND_WHOLE(unsigned long long)

template <class T, class U> __device__ __forceinline__ T mend_as(T, U u)
{
    return T(u);
}

// The operators that may stand for each other.
template <int OP> struct mend_op;
#define MEND_OP(CODE, OP)                                                                                              \
    template <> struct mend_op<CODE> {                                                                                 \
        template <class A, class B> static __device__ __forceinline__ auto of(A a, B b)                                \
        {                                                                                                              \
            return a OP b;                                                                                             \
        }                                                                                                              \
    };
MEND_OP(0, +)
MEND_OP(1, -)
MEND_OP(2, *)
MEND_OP(3, /)
MEND_OP(4, %)
MEND_OP(5, ^)
MEND_OP(8, <)
MEND_OP(9, <=)
MEND_OP(10, >)
MEND_OP(11, >=)
MEND_OP(12, ==)
MEND_OP(13, !=)
MEND_OP(16, &&)
MEND_OP(17, ||)

// IS: the operator that stands there, AS: that is tried.
template <int IS, int AS, class A, class B> __device__ __forceinline__ auto mend_do(A a, B b)
{
    using R = decltype(mend_op<IS>::of(a, b));
    constexpr bool whole = mend_type<A>::whole && mend_type<B>::whole;
    constexpr bool number = mend_type<A>::number && mend_type<B>::number;
    if constexpr (AS % 8 == 6)
        return R(a);
    else if constexpr (AS % 8 == 7 && number)
        return R(b);
    else if constexpr (AS % 8 < 6 && (AS >= 8 || AS < 2 || (AS < 4 ? number : whole)))
        return R(mend_op<AS>::of(a, b));
    else
        return mend_op<IS>::of(a, b);
}

// FIRST: the choice that is the first of N others, whose numbers stand in OTHERS, a byte each.
template <int IS, int FIRST, int N, unsigned OTHERS> struct mend_at {};
template <class A, int IS, int FIRST, int N, unsigned OTHERS> struct mend_left { A a; };

template <class A, class B, int IS, int FIRST, int N, unsigned OTHERS>
__device__ __forceinline__ auto mend_choose(mend_left<A, IS, FIRST, N, OTHERS> l, B b)
{
    if constexpr (N > 0)
        if (mend_choice == FIRST)
            return mend_do<IS, (OTHERS & 255)>(l.a, b);
    if constexpr (N > 1)
        if (mend_choice == FIRST + 1)
            return mend_do<IS, (OTHERS >> 8 & 255)>(l.a, b);
    if constexpr (N > 2)
        if (mend_choice == FIRST + 2)
            return mend_do<IS, (OTHERS >> 16 & 255)>(l.a, b);
    if constexpr (N > 3)
        if (mend_choice == FIRST + 3)
            return mend_do<IS, (OTHERS >> 24 & 255)>(l.a, b);
    return mend_op<IS>::of(l.a, b);
}

#define MEND_SIGN(CODE, OP)                                                                                            \
    template <class A, int FIRST, int N, unsigned OTHERS>                                                              \
    __device__ __forceinline__ mend_left<A, CODE, FIRST, N, OTHERS> operator OP(A a, mend_at<CODE, FIRST, N, OTHERS>)   \
    {                                                                                                                  \
        return { a };                                                                                                  \
    }                                                                                                                  \
    template <class A, class B, int FIRST, int N, unsigned OTHERS>                                                     \
    __device__ __forceinline__ auto operator OP(mend_left<A, CODE, FIRST, N, OTHERS> l, B b)                           \
    {                                                                                                                  \
        return mend_choose(l, b);                                                                                      \
    }
MEND_SIGN(0, +)
MEND_SIGN(1, -)
MEND_SIGN(2, *)
MEND_SIGN(3, /)
MEND_SIGN(4, %)
MEND_SIGN(5, ^)
MEND_SIGN(8, <)
MEND_SIGN(9, <=)
MEND_SIGN(10, >)
MEND_SIGN(11, >=)
MEND_SIGN(12, ==)
MEND_SIGN(13, !=)
MEND_SIGN(16, &&)
MEND_SIGN(17, ||)
