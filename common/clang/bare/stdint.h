// What kernels use of <stdint.h> and <cstdint>, where there is no C library: for the compiler of the book's pages.
#pragma once
using int8_t = signed char;
using uint8_t = unsigned char;
using int16_t = short;
using uint16_t = unsigned short;
using int32_t = int;
using uint32_t = unsigned;
using int64_t = long;
using uint64_t = unsigned long;
using intptr_t = long;
using uintptr_t = unsigned long;
