// Copies as work.
#pragma once

#include "work.h"

// Of bytes, and of rows.
struct work copy_work(const char *function, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
struct work copy_work_2d(const char *function, void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind);
