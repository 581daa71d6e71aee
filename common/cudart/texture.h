// A texture or a surface as kernels see it, on both sides: its object is the address of one of these in device memory.
#pragma once

struct texture {
    const unsigned char *data;
    unsigned long long pitch, slice;  // bytes to the next row, and to the next slice or layer
    int extent[3];                    // in elements; 1 where there is no such dimension. layers: of a layered one, or 1
    int layers;
    int channels, bits, kind;  // bits: of a channel; kind: enum cudaChannelFormatKind
    int address[3];            // enum cudaTextureAddressMode
    int linear, normalized, to_float;
    unsigned border[4];
};

// How an instruction reads: dimensions, and what else.
enum { TEXTURE_DIMENSIONS = 3, TEXTURE_LAYERED = 4, TEXTURE_WHOLE = 8, SURFACE_ZERO = 16, SURFACE_CLAMP = 32 };
