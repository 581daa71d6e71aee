// What the simulated GPU keeps in the 128 bytes of a tensor map.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/launch.h"

#define TENSOR_MAP_MAGIC 0x70616d2074696d73u  // "smit map"

struct tensor_map {
    uint64_t magic;
    uint64_t address;
    uint64_t stride[DEV_MAP_RANK];  // bytes between neighbours along each dimension; [0]: of an element
    uint32_t last[DEV_MAP_RANK];    // elements - 1
    uint16_t box[DEV_MAP_RANK];     // elements that are copied along each dimension: of the box, every step-th
    uint8_t step[DEV_MAP_RANK];
    uint8_t rank, type, swizzle, nan;
};

// The map of a tensor that keeps the rules of device.h.
void tensor_map_make(const struct dev_tensor *t, struct dev_tensor_map *out);

// False if these bytes are no map.
bool tensor_map_read(const void *bytes, struct tensor_map *map);

// Bytes that a box has in shared memory.
uint32_t tensor_map_box_bytes(const struct tensor_map *map);

// Where byte `at` of a box lies: counted from the begin of shared memory, whose bits the swizzle exchanges. Chunks of
// 16 bytes move within 32, 64 or 128 bytes: bits 4.. of the address are combined with bits 7.. by exclusive or.
static inline uint32_t tensor_map_swizzle(uint32_t swizzle, uint32_t at)
{
    return at ^ (at >> 3 & (((1u << swizzle) - 1) << 4));
}
