// See hopper.h.
#include "hopper.h"

#include <stdlib.h>
#include <string.h>

#define PORTABLE_CLUSTER 8  // blocks that every card with clusters can run

static bool call_ok(struct dev *d, const struct cuda *c, const char *call, cu_result r)
{
    char text[512];
    if (!r)
        return true;
    cuda_describe(c, call, r, text, sizeof text);
    return backend_fail(d, "%s", text);
}

// Source: PTX ISA 11.1.2 (.target): code of an architecture whose name ends in "a" runs on that one alone.
bool hopper_accepts(struct dev *d, const char *name, const char *text)
{
    const char *target = strstr(text, ".target");
    const char *sm = target ? strstr(target, "sm_") : NULL;
    char *end;
    if (!sm || sm > target + strcspn(target, "\n"))
        return true;
    const int number = (int)strtol(sm + 3, &end, 10), cc = d->about.cc_major * 10 + d->about.cc_minor;
    if (*end != 'a' || number == cc)
        return true;
    return backend_fail(d, "%.300s needs an sm_%da card%s; %s is sm_%d. The simulated GPU runs it, too: --device=sim",
                        name, number, number == 90 ? " (Hopper: H100, H200)" : "", d->about.name, cc);
}

static bool has(struct dev *d, bool function, const char *what)
{
    if (d->about.cc_major < 9)
        return backend_fail(d, "%s need an sm_90 card or newer; %s is sm_%d", what, d->about.name,
                            d->about.cc_major * 10 + d->about.cc_minor);
    return function || backend_fail(d, "%s need a driver for CUDA 12.0 or newer", what);
}

bool hopper_launch(struct dev *d, const struct cuda *c, cu_stream stream, cu_function f, const struct dev_launch *l,
                   bool early, void **params)
{
    struct cu_launch_attribute attributes[2];
    struct cu_launch launch = { .shared = (unsigned)l->shared, .stream = stream, .attributes = attributes };
    if (l->cluster[0] && !has(d, c->launch_ex != NULL, "clusters"))
        return false;
    if (early)
        attributes[launch.n_attributes++] = (struct cu_launch_attribute){ .id = CU_LAUNCH_EARLY, .value.early = 1 };
    if (l->cluster[0]) {
        struct cu_launch_attribute *a = &attributes[launch.n_attributes++];
        *a = (struct cu_launch_attribute){ .id = CU_LAUNCH_CLUSTER };
        memcpy(a->value.cluster, l->cluster, sizeof l->cluster);
    }
    memcpy(launch.grid, l->grid, sizeof launch.grid);
    memcpy(launch.block, l->block, sizeof launch.block);
    if (l->cluster[0] * l->cluster[1] * l->cluster[2] > PORTABLE_CLUSTER &&
        !call_ok(d, c, "cuFuncSetAttribute", c->function_set(f, CU_FUNCTION_NON_PORTABLE_CLUSTER, 1)))
        return false;
    return call_ok(d, c, "cuLaunchKernelEx", c->launch_ex(&launch, f, params, NULL));
}

// L2 fetches 128 bytes for each that TMA asks for. With 256, matrices whose rows are no multiples of 128 bytes took 15
// % longer on an H200 (19_tma_store, 7192 x 5512 x 2296), and the others as long.
bool hopper_tensor_map(struct dev *d, const struct cuda *c, const struct dev_tensor *t, struct dev_tensor_map *map)
{
    if (!has(d, c->tensor_map != NULL, "tensor maps"))
        return false;
    return call_ok(d, c, "cuTensorMapEncodeTiled",
                   c->tensor_map(map->bytes, (int)t->type, t->rank, (void *)(uintptr_t)t->address, t->size, t->stride,
                                 t->box, t->step, CU_MAP_INTERLEAVE_NONE, (int)t->swizzle, CU_MAP_PROMOTE_128, t->nan));
}
