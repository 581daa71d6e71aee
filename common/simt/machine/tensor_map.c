// See tensor_map.h.
#include "tensor_map.h"

#include <string.h>

_Static_assert(sizeof(struct tensor_map) <= DEV_MAP_BYTES, "a tensor map has 128 bytes");

void tensor_map_make(const struct dev_tensor *t, struct dev_tensor_map *out)
{
    struct tensor_map m = { .magic = TENSOR_MAP_MAGIC,
                            .address = t->address,
                            .rank = (uint8_t)t->rank,
                            .type = (uint8_t)t->type,
                            .swizzle = (uint8_t)t->swizzle,
                            .nan = t->nan };
    for (unsigned i = 0; i < DEV_MAP_RANK; i++) {
        const bool there = i < t->rank;
        m.last[i] = there ? (uint32_t)(t->size[i] - 1) : 0;
        m.step[i] = there && t->step[i] ? (uint8_t)t->step[i] : 1;
        m.box[i] = there ? (uint16_t)((t->box[i] + m.step[i] - 1) / m.step[i]) : 1;
        m.stride[i] = i == 0 ? dev_map_type_bytes(t->type) : there ? t->stride[i - 1] : 0;
    }
    memset(out, 0, sizeof *out);
    memcpy(out->bytes, &m, sizeof m);
}

bool tensor_map_read(const void *bytes, struct tensor_map *map)
{
    memcpy(map, bytes, sizeof *map);
    return map->magic == TENSOR_MAP_MAGIC;
}

uint32_t tensor_map_box_bytes(const struct tensor_map *map)
{
    uint32_t bytes = (uint32_t)map->stride[0];
    for (unsigned i = 0; i < map->rank; i++)
        bytes *= map->box[i];
    return bytes;
}
