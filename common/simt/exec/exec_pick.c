// Chooses the executor that suits the host's processor.
#include "exec.h"

extern const struct exec exec_base;
#ifdef SIMT_HAVE_V3
extern const struct exec exec_v3;
#endif

const struct exec *exec_pick(void)
{
#ifdef SIMT_HAVE_V3
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
        return &exec_v3;
#endif
    return &exec_base;
}
