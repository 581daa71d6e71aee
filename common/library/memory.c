// Device memory for the library's callers. See gemm-steps/gemm.h.
#include "handle.h"

gemm_steps_status gemm_steps_alloc(gemm_steps *handle, size_t bytes, gemm_steps_ptr *memory)
{
    if (memory)
        *memory = 0;
    const char *wrong = !memory ? "the place for the address is NULL" : !bytes ? "0 bytes" : NULL;
    const gemm_steps_status s = handle_enter(handle, __func__, wrong);
    if (s != GEMM_STEPS_OK)
        return s;
    const bool did = dev_alloc(handle->dev, "memory of gemm_steps_alloc", bytes, memory);
    return handle_leave_dev(handle, did, GEMM_STEPS_OUT_OF_MEMORY);
}

gemm_steps_status gemm_steps_free(gemm_steps *handle, gemm_steps_ptr memory)
{
    const bool used = handle && memory && (memory == handle->work.at || memory == handle->arrays.at);
    const gemm_steps_status s = handle_enter(handle, __func__, used ? "the handle uses this memory" : NULL);
    if (s != GEMM_STEPS_OK)
        return s;
    const bool did = !memory || (dev_sync(handle->dev) && dev_free(handle->dev, memory));
    return handle_leave_dev(handle, did, GEMM_STEPS_FAILED);
}

gemm_steps_status gemm_steps_upload(gemm_steps *handle, gemm_steps_ptr to, const void *from, size_t bytes)
{
    const gemm_steps_status s = handle_enter(handle, __func__, to && from ? NULL : "a null pointer");
    if (s != GEMM_STEPS_OK)
        return s;
    return handle_leave_dev(handle, dev_upload(handle->dev, to, from, bytes), GEMM_STEPS_FAILED);
}

gemm_steps_status gemm_steps_download(gemm_steps *handle, void *to, gemm_steps_ptr from, size_t bytes)
{
    const gemm_steps_status s = handle_enter(handle, __func__, to && from ? NULL : "a null pointer");
    if (s != GEMM_STEPS_OK)
        return s;
    return handle_leave_dev(handle, dev_download(handle->dev, to, from, bytes), GEMM_STEPS_FAILED);
}
