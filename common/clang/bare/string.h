// What kernels use of <string.h>: of a constant size, these are loads and stores.
#pragma once
CLANG_DEVICE void *memcpy(void *to, const void *from, size_t bytes)
{
    return __builtin_memcpy(to, from, bytes);
}
CLANG_DEVICE void *memset(void *to, int byte, size_t bytes)
{
    return __builtin_memset(to, byte, bytes);
}
