// See open.h.
#include "open.h"

#include "base/backend.h"
#include "gpu/gpu.h"

struct dev *dev_open(enum dev_kind kind, char error[DEV_ERROR_MAX])
{
    error[0] = '\0';
    const struct backend *ops = kind == DEV_SIM ? &simt_backend : &gpu_backend;
    struct dev *d = ops->open(error);
    if (!d && kind == DEV_AUTO) {
        ops = &simt_backend;
        d = ops->open(error);
    }
    if (d)
        d->ops = ops;
    return d;
}
