// Tensor maps, which the driver's API alone makes. They need no context.
#include <string.h>

#include "driver.h"

CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                const cuuint64_t *size, const cuuint64_t *stride, const cuuint32_t *box,
                                const cuuint32_t *step, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion l2, CUtensorMapFloatOOBfill fill)
{
    struct dev_tensor t = { .address = (uint64_t)address,
                            .type = (enum dev_map_type)type,
                            .rank = rank,
                            .swizzle = (enum dev_swizzle)swizzle,
                            .nan = fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE };
    struct dev_tensor_map out;
    char error[DEV_ERROR_MAX] = "interleaved maps are not there yet";
    for (unsigned i = 0; i < rank && i < DEV_MAP_RANK; i++) {
        t.size[i] = size[i];
        t.box[i] = box[i];
        t.step[i] = step[i];
        if (i + 1 < rank)
            t.stride[i] = stride[i];
    }
    if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE || !simt_tensor_map(&t, &out, error)) {
        fprintf(stderr, "cudart: cuTensorMapEncodeTiled: %s\n", error);
        return CUDA_ERROR_INVALID_VALUE;
    }
    memcpy(map, &out, sizeof *map);
    return CUDA_SUCCESS;
}
