// Device memory for the library's callers. See gemm-steps/gemm.h.
#include "handle.h"

gemm_steps_status gemm_steps_alloc(gemm_steps *handle, size_t bytes, gemm_steps_ptr *memory)
{
    if (memory)
        *memory = 0;
    gemm_steps_status s = handle_enter(handle, __func__);
    if (s != GEMM_STEPS_OK)
        return s;
    if (!memory || !bytes)
        s = handle_fail(handle, GEMM_STEPS_BAD_ARGUMENT, "%s: %s", __func__,
                        memory ? "0 bytes" : "the place for the address is NULL");
    else if (!dev_alloc(handle->dev, "memory of gemm_steps_alloc", bytes, memory))
        s = handle_fail_dev(handle, GEMM_STEPS_OUT_OF_MEMORY);
    return handle_leave(handle, s);
}

gemm_steps_status gemm_steps_free(gemm_steps *handle, gemm_steps_ptr memory)
{
    gemm_steps_status s = handle_enter(handle, __func__);
    if (s != GEMM_STEPS_OK)
        return s;
    if (memory && (memory == handle->work.at || memory == handle->arrays.at))
        s = handle_fail(handle, GEMM_STEPS_BAD_ARGUMENT, "%s: this memory is the handle's own", __func__);
    else if (memory && (!dev_sync(handle->dev) || !dev_free(handle->dev, memory)))
        s = handle_fail_dev(handle, GEMM_STEPS_FAILED);
    return handle_leave(handle, s);
}

gemm_steps_status gemm_steps_upload(gemm_steps *handle, gemm_steps_ptr to, const void *from, size_t bytes)
{
    gemm_steps_status s = handle_enter(handle, __func__);
    if (s != GEMM_STEPS_OK)
        return s;
    if (!to || !from)
        s = handle_fail(handle, GEMM_STEPS_BAD_ARGUMENT, "%s: a null pointer", __func__);
    else if (!dev_upload(handle->dev, to, from, bytes))
        s = handle_fail_dev(handle, GEMM_STEPS_FAILED);
    return handle_leave(handle, s);
}

gemm_steps_status gemm_steps_download(gemm_steps *handle, void *to, gemm_steps_ptr from, size_t bytes)
{
    gemm_steps_status s = handle_enter(handle, __func__);
    if (s != GEMM_STEPS_OK)
        return s;
    if (!to || !from)
        s = handle_fail(handle, GEMM_STEPS_BAD_ARGUMENT, "%s: a null pointer", __func__);
    else if (!dev_download(handle->dev, to, from, bytes))
        s = handle_fail_dev(handle, GEMM_STEPS_FAILED);
    return handle_leave(handle, s);
}
