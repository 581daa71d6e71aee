// See array.c.
#pragma once

#include "cudart.h"
#include "texture.h"

struct array {
    struct texture t;
    struct cudaChannelFormatDesc channels;
    struct cudaExtent extent;  // as the program gave it
    unsigned flags;
};

struct array *array_of(cudaArray_const_t handle);  // NULL: it is none
// Whether such channels can be: alike, of 8, 16 or 32 bits, and not three.
bool array_channels(const struct cudaChannelFormatDesc *c, struct texture *t);
size_t array_element(const struct texture *t);  // its bytes
