// Kernel arguments on the command line of `simt`:
//
//   i32:7  u64:9  f32:1.5              a number
//   f32:{1,2,3}                        numbers in place, as in float v[3]; f32x4:{1,2,3,4} aligned as float4 is
//   struct:{i32:7,f32:1.5,...}         a struct: its fields in order, each at a multiple of its alignment
//   bytes:00ff12                       any parameter, byte by byte
//   map:f16[96,64]box[32,64]swizzle128=CONTENT   a tensor map (CUtensorMap) of a new array: 96 rows of 64 elements,
//                                      copied in boxes of 32 x 64; map:x[96,64]... is one of the array x
//   f32[1024]=CONTENT                  an array in device memory: its address. Within a struct, too
//   x=f32[1024]=CONTENT                the same with a name; then x alone is that array again
//
// CONTENT: normal:SEED  uniform:SEED  iota  zeros  ones  uninit  a number for all elements  {1,2,3} for the first ones
// @file.bin; with [FROM:TO] behind it, only these elements are initialised.
// Types: i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "simt/simt.h"

struct arg_type;

struct buffer {  // an array in device memory
    char name[80];
    bool named;  // by the user; otherwise "argument 2"
    const struct arg_type *type;
    size_t count, bytes;  // elements, and bytes of all of them
    size_t from, to;      // the elements that are initialised
    unsigned char *data;  // of all elements; NULL if none is initialised
    uint64_t address;     // once it is in device memory
};

struct buffers {
    struct buffer *all;
    size_t n;
};

struct pointer {
    size_t at;      // bytes from the start of the argument
    size_t buffer;  // whose address stands there
};

struct arg {
    const char *text;             // as it was written
    const struct arg_type *type;  // of a number; NULL for others
    bool array;                   // the address of an array, and nothing else
    unsigned char *data;
    size_t bytes;
    uint32_t align;
    struct pointer *pointers;
    size_t n_pointers;
    bool map;  // a tensor map: of this tensor, which is the array number map_buffer
    struct dev_tensor tensor;
    size_t map_buffer;
};

// Reads one argument; arrays in it are added to buffers and called by their names, or by place ("argument 2"). False,
// with one line in error, if it makes no sense. text must outlive the argument.
bool arg_parse(const char *text, const char *place, struct buffers *buffers, struct arg *out,
               char error[DEV_ERROR_MAX]);
// The same for what a variable of the module is to hold: TYPE[COUNT]=CONTENT is the content itself, in place. from and
// to are the bytes that are initialised.
bool arg_parse_content(const char *text, struct buffers *buffers, struct arg *out, size_t *from, size_t *to,
                       char error[DEV_ERROR_MAX]);
void arg_free(struct arg *a);
void buffers_free(struct buffers *b);

// Whether a may be passed for a parameter that is one number of that type (scalar), or several; it is called place.
// False, with one line in error, for another size or kind of number than the PTX declares.
bool arg_fits(const struct arg *a, const struct simt_type *type, bool scalar, uint64_t bytes, const char *place,
              char error[DEV_ERROR_MAX]);
// Writes the addresses of its arrays into a's bytes; that of a tensor map into its tensor, of which the device makes
// it.
void arg_link(struct arg *a, const struct buffers *buffers);

const char *arg_type_name(const struct arg_type *t);            // "f32"
size_t arg_type_bytes(const struct arg_type *t);                // of an element
const struct arg_type *arg_type_of(const struct simt_type *t);  // what a variable of it holds; u8: no such type
// Prints elements from..to-1 of data: up to 8 in a line, and more in lines of 8 that begin with their index.
void arg_print(FILE *out, const struct arg_type *t, const unsigned char *data, size_t from, size_t to);

// --- private to args.c, arg_fill.c and arg_show.c ---

enum number { SIGNED, UNSIGNED, HALF, BFLOAT, FLOAT, DOUBLE };

struct arg_type {
    const char *name;
    size_t bytes;
    enum number number;
};

const struct arg_type *arg_type_named(const char *name, size_t n);                // NULL if there is none
uint16_t arg_bfloat(float f);                                                     // the nearest bfloat
bool arg_number(const struct arg_type *t, const char *text, void *at);            // reads a number by its own type
bool arg_fill(const char *content, struct buffer *b, char error[DEV_ERROR_MAX]);  // after the '='
