// Kernel arguments on the command line of `simt`:
//
//   i32:7  u64:9  f32:1.5              a scalar
//   f32[1024]=normal:SEED              an array in device memory; the kernel gets its address
//   other contents: uniform:SEED  iota  zeros  ones  uninit  @file.bin
//
// Types: i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64.
#ifndef SIMT_ARGS_H
#define SIMT_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "../device.h"

struct arg_type;

struct arg {
    const struct arg_type *type;
    bool array;
    size_t count;       // elements; 1 for a scalar
    size_t bytes;       // of all elements
    unsigned char *data;  // their initial bytes; NULL for uninit
    uint64_t address;   // of an array, once it is in device memory
};

// Reads one argument. False, with one line in error, where it makes no sense. data is the caller's to free.
bool arg_parse(const char *text, struct arg *out, char error[DEV_ERROR_MAX]);
const char *arg_type_name(const struct arg *a);
double arg_element(const struct arg *a, const unsigned char *data, size_t i);  // an element, for people to read

#endif
