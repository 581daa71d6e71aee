// There is no CUDA beside a page.
#include "base/backend.h"
#include "gpu/gpu.h"

static struct dev *no_gpu(char error[DEV_ERROR_MAX])
{
    error_set(error, "there is no CUDA here");
    return NULL;
}

const struct backend gpu_backend = { .open = no_gpu };
