// cuRAND's host interface: libcurand.so.10. NVIDIA's library has generators that work on the host, without a card, and
// their numbers are by its documentation those that a card makes. So a generator of the device's is one of the host's
// in NVIDIA's own library, and a copy: the numbers are CUDA's, whatever generator, seed, order and distribution it is.
// No kernel runs, so there is none to count or to predict.
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curand.h>

#include "note.h"

struct curandGenerator_st {
    curandGenerator_t real;
    bool on_host;  // as the program asked for
    cudaStream_t stream;
};

// --- NVIDIA's library ---

static bool is_this(void *library)
{
    void *const function = dlsym(library, "curandCreateGeneratorHost");
    return !function || function == (void *)curandCreateGeneratorHost;
}

static void *open_in(const char *folder, size_t length)
{
    char path[4096];
    snprintf(path, sizeof path, "%.*s/libcurand.so.10", (int)length, folder);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library && is_this(library)) {
        dlclose(library);
        return NULL;
    }
    return library;
}

// In the folders where programs look, that of the toolkit this was built with, or where toolkits are put.
static void *find_library(void)
{
    const char *const folders[] = { getenv("LD_LIBRARY_PATH"), TOOLKIT_LIBRARIES, "/usr/local/cuda/lib64" };
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        for (const char *at = folders[i]; at && *at; at += strcspn(at, ":"), at += *at == ':') {
            void *library = open_in(at, strcspn(at, ":"));
            if (library)
                return library;
        }
    return NULL;
}

static void *find(const char *name)
{
    static void *library;
    static bool looked;
    if (!looked)
        library = find_library();
    looked = true;
    return library ? dlsym(library, name) : NULL;
}

// --- What a call says ---

static curandStatus_t told(curandStatus_t s, const char *function)
{
#define STATUS(name)                                                                                                   \
    {                                                                                                                  \
        CURAND_STATUS_##name, "CURAND_STATUS_" #name                                                                   \
    }
    static const struct {
        curandStatus_t status;
        const char *name;
    } all[] = { STATUS(VERSION_MISMATCH), STATUS(NOT_INITIALIZED),     STATUS(ALLOCATION_FAILED),
                STATUS(TYPE_ERROR),       STATUS(OUT_OF_RANGE),        STATUS(LENGTH_NOT_MULTIPLE),
                STATUS(LAUNCH_FAILURE),   STATUS(PREEXISTING_FAILURE), STATUS(INTERNAL_ERROR) };
    for (size_t i = 0; s && i < sizeof all / sizeof *all; i++)
        if (all[i].status == s)
            __cudartSay(function, all[i].name);
    return s;
}

static curandStatus_t missing(const char *function)
{
    __cudartSay(function, "the numbers come from NVIDIA's libcurand.so.10, and that is not where CUDA's libraries are: "
                          "LD_LIBRARY_PATH can name its folder");
    return CURAND_STATUS_INITIALIZATION_FAILED;
}

// --- Generators ---

static curandStatus_t create(curandGenerator_t *out, curandRngType_t type, bool on_host, const char *function)
{
    curandStatus_t (*real)(curandGenerator_t *, curandRngType_t) =
        (curandStatus_t(*)(curandGenerator_t *, curandRngType_t))find("curandCreateGeneratorHost");
    if (!real)
        return missing(function);
    curandGenerator_t g = calloc(1, sizeof *g);
    if (!g)
        return CURAND_STATUS_ALLOCATION_FAILED;
    const curandStatus_t s = real(&g->real, type);
    g->on_host = on_host;
    if (s)
        free(g);
    else
        *out = g;
    return told(s, function);
}

curandStatus_t curandCreateGenerator(curandGenerator_t *out, curandRngType_t type)
{
    if (cudaFree(NULL))
        return told(CURAND_STATUS_PREEXISTING_FAILURE, "curandCreateGenerator");
    return create(out, type, false, "curandCreateGenerator");
}

curandStatus_t curandCreateGeneratorHost(curandGenerator_t *out, curandRngType_t type)
{
    return create(out, type, true, "curandCreateGeneratorHost");
}

curandStatus_t curandSetStream(curandGenerator_t g, cudaStream_t s)
{
    if (g)
        g->stream = s;
    return g ? CURAND_STATUS_SUCCESS : told(CURAND_STATUS_NOT_INITIALIZED, "curandSetStream");
}

// As NVIDIA's, of its generator.
#define PASS(name, parameters, types, arguments)                                                                       \
    curandStatus_t name parameters                                                                                     \
    {                                                                                                                  \
        curandStatus_t(*real) types = (curandStatus_t(*) types)find(#name);                                            \
        return real ? told(real arguments, #name) : missing(#name);                                                    \
    }
#define OF(g) ((g) ? (g)->real : NULL)
#define SETS(name, type) PASS(name, (curandGenerator_t g, type v), (curandGenerator_t, type), (OF(g), v))
#define GIVES(name, type) PASS(name, (type * v), (type *), (v))

SETS(curandSetPseudoRandomGeneratorSeed, unsigned long long)
SETS(curandSetGeneratorOffset, unsigned long long)
SETS(curandSetGeneratorOrdering, curandOrdering_t)
SETS(curandSetQuasiRandomGeneratorDimensions, unsigned)
PASS(curandGenerateSeeds, (curandGenerator_t g), (curandGenerator_t), (OF(g)))
GIVES(curandGetVersion, int)
PASS(curandGetProperty, (libraryPropertyType type, int *v), (libraryPropertyType, int *), (type, v))
GIVES(curandGetScrambleConstants32, unsigned *)
GIVES(curandGetScrambleConstants64, unsigned long long *)
PASS(curandGetDirectionVectors32, (curandDirectionVectors32_t * v[], curandDirectionVectorSet_t set),
     (curandDirectionVectors32_t *[], curandDirectionVectorSet_t), (v, set))
PASS(curandGetDirectionVectors64, (curandDirectionVectors64_t * v[], curandDirectionVectorSet_t set),
     (curandDirectionVectors64_t *[], curandDirectionVectorSet_t), (v, set))

curandStatus_t curandDestroyGenerator(curandGenerator_t g)
{
    curandStatus_t (*real)(curandGenerator_t) = (curandStatus_t(*)(curandGenerator_t))find("curandDestroyGenerator");
    const curandStatus_t s = g && real ? real(g->real) : CURAND_STATUS_NOT_INITIALIZED;
    free(g);
    return told(s, "curandDestroyGenerator");
}

// --- Numbers ---

// Where NVIDIA's generator writes: a copy of it goes to the device.
static void *begin(curandGenerator_t g, void *to, size_t bytes)
{
    return g && !g->on_host ? malloc(bytes ? bytes : 1) : to;
}

static curandStatus_t end(curandGenerator_t g, void *to, void *from, size_t bytes, curandStatus_t s,
                          const char *function)
{
    if (!g || g->on_host)
        return told(s, function);
    enum cudaStreamCaptureStatus captured = cudaStreamCaptureStatusNone;
    if (!s && !cudaStreamIsCapturing(g->stream, &captured) && captured) {
        __cudartSay(function, "a graph that makes new numbers at each launch is not there yet");
        s = CURAND_STATUS_PREEXISTING_FAILURE;
    } else if (!s && bytes && cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, g->stream))
        s = CURAND_STATUS_LAUNCH_FAILURE;  // the copy has said why
    else
        told(s, function);
    free(from);
    return s;
}

#define GENERATE(name, type, parameters, types, arguments)                                                             \
    curandStatus_t name parameters                                                                                     \
    {                                                                                                                  \
        curandStatus_t(*real) types = (curandStatus_t(*) types)find(#name);                                            \
        if (!real)                                                                                                     \
            return missing(#name);                                                                                     \
        type *host = begin(g, to, n * sizeof *to);                                                                     \
        const curandStatus_t s = host ? real arguments : CURAND_STATUS_ALLOCATION_FAILED;                              \
        return end(g, to, host, n * sizeof *to, s, #name);                                                             \
    }
#define PLAIN(name, type)                                                                                              \
    GENERATE(name, type, (curandGenerator_t g, type * to, size_t n), (curandGenerator_t, type *, size_t),              \
             (OF(g), host, n))
#define SHAPED(name, type)                                                                                             \
    GENERATE(name, type, (curandGenerator_t g, type * to, size_t n, type mean, type deviation),                        \
             (curandGenerator_t, type *, size_t, type, type), (OF(g), host, n, mean, deviation))

PLAIN(curandGenerate, unsigned)
PLAIN(curandGenerateLongLong, unsigned long long)
PLAIN(curandGenerateUniform, float)
PLAIN(curandGenerateUniformDouble, double)
SHAPED(curandGenerateNormal, float)
SHAPED(curandGenerateNormalDouble, double)
SHAPED(curandGenerateLogNormal, float)
SHAPED(curandGenerateLogNormalDouble, double)
GENERATE(curandGeneratePoisson, unsigned, (curandGenerator_t g, unsigned *to, size_t n, double lambda),
         (curandGenerator_t, unsigned *, size_t, double), (OF(g), host, n, lambda))

// A table on the device, which NVIDIA's library makes with a kernel.
curandStatus_t curandCreatePoissonDistribution(double lambda, curandDiscreteDistribution_t *out)
{
    __cudartSay("curandCreatePoissonDistribution", "it is not there yet");
    return CURAND_STATUS_INITIALIZATION_FAILED;
}

curandStatus_t curandDestroyDistribution(curandDiscreteDistribution_t distribution)
{
    return CURAND_STATUS_SUCCESS;  // of none
}
