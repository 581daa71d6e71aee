// Tensor maps: the rules that a tensor and its box keep, on any device. Source: CUDA Driver API,
// cuTensorMapEncodeTiled.
#include "launch.h"

#define SIZE_MAX_ELEMENTS ((uint64_t)1 << 32)
#define STRIDE_END ((uint64_t)1 << 40)
#define BOX_MAX 256
#define STEP_MAX 8
#define CHUNK 16  // bytes

unsigned dev_map_type_bytes(enum dev_map_type type)
{
    static const unsigned char bytes[DEV_MAP_TYPES] = { 1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4 };
    return (unsigned)type < DEV_MAP_TYPES ? bytes[type] : 0;
}

struct dev_tensor dev_matrix(dev_ptr address, enum dev_map_type type, uint64_t rows, uint64_t columns, uint64_t pitch,
                             uint32_t box_rows, uint32_t box_columns, enum dev_swizzle swizzle)
{
    return (struct dev_tensor){ .address = address,
                                .type = type,
                                .rank = 2,
                                .size = { columns, rows },
                                .stride = { pitch * dev_map_type_bytes(type) },
                                .box = { box_columns, box_rows },
                                .swizzle = swizzle };
}

static bool check_dimension(const struct dev_tensor *t, unsigned i, char error[DEV_ERROR_MAX])
{
    if (!t->size[i] || t->size[i] > SIZE_MAX_ELEMENTS)
        return error_set(error, "tensor map: dimension %u has %llu elements; 1 to 2^32 are allowed", i,
                         (unsigned long long)t->size[i]);
    if (!t->box[i] || t->box[i] > BOX_MAX)
        return error_set(error, "tensor map: its box has %u elements along dimension %u; 1 to %d are allowed",
                         t->box[i], i, BOX_MAX);
    if (!t->step[i] || t->step[i] > STEP_MAX)
        return error_set(error, "tensor map: step %u along dimension %u; 1 to %d are allowed", t->step[i], i, STEP_MAX);
    if (i && (t->stride[i - 1] % CHUNK || t->stride[i - 1] >= STRIDE_END || (!t->stride[i - 1] && t->size[i] > 1)))
        return error_set(error, "tensor map: dimension %u has a stride of %llu bytes; it has to be a multiple of %d%s",
                         i, (unsigned long long)t->stride[i - 1], CHUNK,
                         i == 1 ? " (rows of such a length: pad them)" : "");
    return true;
}

static bool check_row(const struct dev_tensor *t, char error[DEV_ERROR_MAX])
{
    const unsigned bytes = dev_map_type_bytes(t->type);
    const uint32_t row = (t->box[0] + t->step[0] - 1) / t->step[0] * bytes, span = 16u << t->swizzle;
    if (row % CHUNK)
        return error_set(error, "tensor map: a row of its box has %u bytes; it has to be a multiple of %d", row, CHUNK);
    if (t->swizzle != DEV_SWIZZLE_NONE && row > span)
        return error_set(error, "tensor map: a row of its box has %u bytes; a swizzle of %u bytes allows %u", row, span,
                         span);
    return true;
}

bool tensor_settle(struct dev_tensor *t, char error[DEV_ERROR_MAX])
{
    if (t->rank < 1 || t->rank > DEV_MAP_RANK || !dev_map_type_bytes(t->type) || (unsigned)t->swizzle > DEV_SWIZZLE_128)
        return error_set(error, "tensor map: rank %u, type %d, swizzle %d: there is no such tensor", t->rank,
                         (int)t->type, (int)t->swizzle);
    if (!t->address || t->address % CHUNK)
        return error_set(error, "tensor map: address 0x%llx is no multiple of %d", (unsigned long long)t->address,
                         CHUNK);
    for (unsigned i = 0; i < t->rank; i++) {
        t->step[i] = t->step[i] ? t->step[i] : 1;
        if (!check_dimension(t, i, error))
            return false;
    }
    return check_row(t, error);
}
