// Chooses the executor that suits the host's processor.
#include "exec.h"

extern const struct exec exec_base;
#ifdef SIMT_HAVE_V3
extern const struct exec exec_v3;
#endif
#ifdef SIMT_HAVE_V4
extern const struct exec exec_v4;
#endif

const struct exec *exec_pick(void)
{
#ifdef SIMT_HAVE_V4
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return &exec_v4;
#endif
#ifdef SIMT_HAVE_V3
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
        return &exec_v3;
#endif
    return &exec_base;
}
