// cooperative_groups: a block, and tiles of a warp that all of its lanes are in. Groups of a grid, and of lanes that
// happen to be together, need nvcc. Source: CUDA C++ Programming Guide 13.0, section 11 (cooperative groups).
#pragma once

namespace cooperative_groups
{

struct thread_block {
    CLANG_MEMBER void sync() const
    {
        __syncthreads();
    }
    CLANG_MEMBER unsigned thread_rank() const
    {
        return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    }
    CLANG_MEMBER unsigned size() const
    {
        return blockDim.x * blockDim.y * blockDim.z;
    }
    CLANG_MEMBER unsigned num_threads() const
    {
        return size();
    }
    CLANG_MEMBER dim3 thread_index() const
    {
        return threadIdx;
    }
    CLANG_MEMBER dim3 group_index() const
    {
        return blockIdx;
    }
};
CLANG_DEVICE thread_block this_thread_block()
{
    return {};
}

// A value of any type is shuffled word by word.
template <class T, class F> CLANG_DEVICE T clang_by_words(T x, F move)
{
    unsigned words[(sizeof x + 3) / 4] = {};
    __builtin_memcpy(words, &x, sizeof x);
    for (auto &word : words)
        word = move(word);
    __builtin_memcpy(&x, words, sizeof x);
    return x;
}

// size lanes whose numbers follow each other: a power of two.
template <unsigned lanes, class Parent = thread_block> struct thread_block_tile {
    static_assert(lanes <= 32 && (lanes & (lanes - 1)) == 0, "a tile of more than a warp needs nvcc");
    CLANG_MEMBER unsigned thread_rank() const
    {
        return thread_block().thread_rank() % lanes;
    }
    CLANG_MEMBER unsigned meta_group_rank() const
    {
        return thread_block().thread_rank() / lanes;
    }
    CLANG_MEMBER unsigned meta_group_size() const
    {
        return (thread_block().size() + lanes - 1) / lanes;
    }
    CLANG_MEMBER static constexpr unsigned size()
    {
        return lanes;
    }
    CLANG_MEMBER static constexpr unsigned num_threads()
    {
        return lanes;
    }
    CLANG_MEMBER unsigned mask() const
    {
        return lanes == 32 ? ~0u : ((1u << lanes % 32) - 1) << (thread_block().thread_rank() % 32 / lanes * lanes);
    }
    CLANG_MEMBER void sync() const
    {
        __syncwarp(mask());
    }
    template <class T> CLANG_MEMBER T shfl(T x, int lane) const
    {
        return clang_by_words(x, [&](unsigned word) { return __shfl_sync(mask(), word, lane, lanes); });
    }
    template <class T> CLANG_MEMBER T shfl_up(T x, unsigned by) const
    {
        return clang_by_words(x, [&](unsigned word) { return __shfl_up_sync(mask(), word, by, lanes); });
    }
    template <class T> CLANG_MEMBER T shfl_down(T x, unsigned by) const
    {
        return clang_by_words(x, [&](unsigned word) { return __shfl_down_sync(mask(), word, by, lanes); });
    }
    template <class T> CLANG_MEMBER T shfl_xor(T x, unsigned with) const
    {
        return clang_by_words(x, [&](unsigned word) { return __shfl_xor_sync(mask(), word, with, lanes); });
    }
    CLANG_MEMBER unsigned ballot(int yes) const
    {
        return (__ballot_sync(mask(), yes) & mask()) >> (thread_block().thread_rank() % 32 / lanes * lanes);
    }
    CLANG_MEMBER int any(int yes) const
    {
        return ballot(yes) != 0;
    }
    CLANG_MEMBER int all(int yes) const
    {
        return ballot(!yes) == 0;
    }
};
template <unsigned lanes, class Parent> CLANG_DEVICE thread_block_tile<lanes, Parent> tiled_partition(const Parent &)
{
    return {};
}
template <class Group> CLANG_DEVICE void sync(const Group &group)
{
    group.sync();
}

template <class T> struct plus {
    CLANG_MEMBER T operator()(T a, T b) const
    {
        return a + b;
    }
};
template <class T> struct greater {
    CLANG_MEMBER T operator()(T a, T b) const
    {
        return a > b ? a : b;
    }
};
template <class T> struct less {
    CLANG_MEMBER T operator()(T a, T b) const
    {
        return a < b ? a : b;
    }
};

// Of all lanes of a tile; each gets it.
template <unsigned lanes, class Parent, class T, class Op>
CLANG_DEVICE T reduce(const thread_block_tile<lanes, Parent> &tile, T x, Op op)
{
#pragma unroll
    for (unsigned with = lanes / 2; with; with /= 2)
        x = op(x, tile.shfl_xor(x, with));
    return x;
}

}  // namespace cooperative_groups
