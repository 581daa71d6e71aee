// cublasLt: a product whose matrices, epilogue and layouts are described one by one. Descriptors are the caller's
// memory, as large as cublasLt.h says.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blas.h"

#include <cublasLt.h>

// --- What is in them ---

struct operation {
    int32_t compute, scale, pointers, op[3], fill, bias_type, sms;
    uint32_t epilogue;
    const void *bias;
    int64_t bias_stride;
    int8_t fast;
};

struct layout {
    uint32_t type;
    int32_t order, batch;
    uint64_t rows, columns;
    int64_t ld, stride;
};

struct preference {
    uint32_t search, reduction, aligned[4];
    uint64_t workspace, kinds;
    float waves;
};

struct slot {
    int attribute;
    size_t at, bytes;
};
#define SLOT(type, attribute, field)                                                                                   \
    {                                                                                                                  \
        attribute, offsetof(struct type, field), sizeof(((struct type *)0)->field)                                     \
    }
#define OPERATION(name, field) SLOT(operation, CUBLASLT_MATMUL_DESC_##name, field)
#define LAYOUT(name, field) SLOT(layout, CUBLASLT_MATRIX_LAYOUT_##name, field)
#define PREFERENCE(name, field) SLOT(preference, CUBLASLT_MATMUL_PREF_##name, field)

static const struct slot operation_slots[] = { OPERATION(COMPUTE_TYPE, compute),
                                               OPERATION(SCALE_TYPE, scale),
                                               OPERATION(POINTER_MODE, pointers),
                                               OPERATION(TRANSA, op[0]),
                                               OPERATION(TRANSB, op[1]),
                                               OPERATION(TRANSC, op[2]),
                                               OPERATION(FILL_MODE, fill),
                                               OPERATION(EPILOGUE, epilogue),
                                               OPERATION(BIAS_POINTER, bias),
                                               OPERATION(BIAS_BATCH_STRIDE, bias_stride),
                                               OPERATION(BIAS_DATA_TYPE, bias_type),
                                               OPERATION(SM_COUNT_TARGET, sms),
                                               OPERATION(FAST_ACCUM, fast),
                                               { -1, 0, 0 } };

static const struct slot layout_slots[] = { LAYOUT(TYPE, type),
                                            LAYOUT(ORDER, order),
                                            LAYOUT(ROWS, rows),
                                            LAYOUT(COLS, columns),
                                            LAYOUT(LD, ld),
                                            LAYOUT(BATCH_COUNT, batch),
                                            LAYOUT(STRIDED_BATCH_OFFSET, stride),
                                            { -1, 0, 0 } };

static const struct slot preference_slots[] = { PREFERENCE(SEARCH_MODE, search),
                                                PREFERENCE(MAX_WORKSPACE_BYTES, workspace),
                                                PREFERENCE(REDUCTION_SCHEME_MASK, reduction),
                                                PREFERENCE(MIN_ALIGNMENT_A_BYTES, aligned[0]),
                                                PREFERENCE(MIN_ALIGNMENT_B_BYTES, aligned[1]),
                                                PREFERENCE(MIN_ALIGNMENT_C_BYTES, aligned[2]),
                                                PREFERENCE(MIN_ALIGNMENT_D_BYTES, aligned[3]),
                                                PREFERENCE(MAX_WAVES_COUNT, waves),
                                                PREFERENCE(IMPL_MASK, kinds),
                                                { -1, 0, 0 } };

static const struct slot *slot_of(const struct slot *s, int attribute)
{
    while (s->attribute >= 0 && s->attribute != attribute)
        s++;
    return s->attribute < 0 ? NULL : s;
}

static cublasStatus_t set(const char *function, const struct slot *slots, void *object, int attribute, const void *from,
                          size_t bytes)
{
    char why[64];
    const struct slot *s = slot_of(slots, attribute);
    snprintf(why, sizeof why, "attribute %d is not there yet", attribute);
    if (!s)
        return blas_refuse(function, why);
    if (!object || !from || bytes != s->bytes)
        return blas_fail(CUBLAS_STATUS_INVALID_VALUE, function, "not the size of that attribute, or a null pointer");
    memcpy((char *)object + s->at, from, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t get(const char *function, const struct slot *slots, const void *object, int attribute, void *to,
                          size_t room, size_t *written)
{
    const struct slot *s = slot_of(slots, attribute);
    if (!s)
        return blas_refuse(function, "this attribute is not there yet");
    if (written)
        *written = s->bytes;
    if (room < s->bytes)
        return room ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;
    memcpy(to, (const char *)object + s->at, s->bytes);
    return CUBLAS_STATUS_SUCCESS;
}

// --- Making them ---

static void operation_init(void *to, cublasComputeType_t compute, cudaDataType scale)
{
    const struct operation o = { .compute = (int32_t)compute,
                                 .scale = (int32_t)scale,
                                 .fill = CUBLAS_FILL_MODE_FULL,
                                 .bias_type = -1,
                                 .epilogue = CUBLASLT_EPILOGUE_DEFAULT };
    memcpy(to, &o, sizeof o);
}

static void layout_init(void *to, cudaDataType type, uint64_t rows, uint64_t columns, int64_t ld)
{
    const struct layout l = {
        .type = (uint32_t)type, .order = CUBLASLT_ORDER_COL, .batch = 1, .rows = rows, .columns = columns, .ld = ld
    };
    memcpy(to, &l, sizeof l);
}

static void preference_init(void *to)
{
    memset(to, 0, sizeof(cublasLtMatmulPreferenceOpaque_t));
}

// The calls of a descriptor. given: what its maker is given, with names and types; passed: their names.
#define UNPACK(...) __VA_ARGS__
#define DESCRIPTOR(name, opaque, attributes, kind, given, passed)                                                      \
    _Static_assert(sizeof(struct kind) <= sizeof(opaque), "it fits into the caller's memory");                         \
    cublasStatus_t cublasLt##name##Init_internal(opaque *d, size_t size UNPACK given)                                  \
    {                                                                                                                  \
        memset(d, 0, size);                                                                                            \
        kind##_init(d UNPACK passed);                                                                                  \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }                                                                                                                  \
    cublasStatus_t cublasLt##name##Create(opaque **d UNPACK given)                                                     \
    {                                                                                                                  \
        *d = calloc(1, sizeof **d);                                                                                    \
        if (*d)                                                                                                        \
            kind##_init(*d UNPACK passed);                                                                             \
        return *d ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;                                                \
    }                                                                                                                  \
    cublasStatus_t cublasLt##name##Destroy(opaque *d)                                                                  \
    {                                                                                                                  \
        free(d);                                                                                                       \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }                                                                                                                  \
    cublasStatus_t cublasLt##name##SetAttribute(opaque *d, attributes a, const void *from, size_t bytes)               \
    {                                                                                                                  \
        return set("cublasLt" #name "SetAttribute", kind##_slots, d, (int)a, from, bytes);                             \
    }                                                                                                                  \
    cublasStatus_t cublasLt##name##GetAttribute(opaque *d, attributes a, void *to, size_t room, size_t *written)       \
    {                                                                                                                  \
        return get("cublasLt" #name "GetAttribute", kind##_slots, d, (int)a, to, room, written);                       \
    }

DESCRIPTOR(MatmulDesc, cublasLtMatmulDescOpaque_t, cublasLtMatmulDescAttributes_t, operation,
           (, cublasComputeType_t compute, cudaDataType scale), (, compute, scale))
DESCRIPTOR(MatrixLayout, cublasLtMatrixLayoutOpaque_t, cublasLtMatrixLayoutAttribute_t, layout,
           (, cudaDataType type, uint64_t rows, uint64_t columns, int64_t ld), (, type, rows, columns, ld))
DESCRIPTOR(MatmulPreference, cublasLtMatmulPreferenceOpaque_t, cublasLtMatmulPreferenceAttributes_t, preference, (), ())

// --- The product ---

struct matmul {  // as it is described
    struct operation o;
    struct layout a, b, c, d;
};

static struct matmul matmul_of(const void *o, const void *a, const void *b, const void *c, const void *d)
{
    struct matmul m;
    memcpy(&m.o, o, sizeof m.o);
    memcpy(&m.a, a, sizeof m.a);
    memcpy(&m.b, b, sizeof m.b);
    memcpy(&m.c, c, sizeof m.c);
    memcpy(&m.d, d, sizeof m.d);
    return m;
}

static struct blas_matrix matrix_of(const struct layout *l, int32_t op, const void *at)
{
    return (struct blas_matrix){ .at = at,
                                 .type = (cudaDataType)l->type,
                                 .ld = l->ld,
                                 .stride = l->stride,
                                 .op = (cublasOperation_t)op,
                                 .by_rows = l->order == CUBLASLT_ORDER_ROW };
}

static struct blas_product product_of(const struct matmul *m, const void *A, const void *B, const void *D)
{
    const bool bias = m->o.epilogue & CUBLASLT_EPILOGUE_BIAS;
    const bool on_device = m->o.pointers == CUBLASLT_POINTER_MODE_DEVICE;
    return (struct blas_product){ .function = "cublasLtMatmul",
                                  .m = (int64_t)m->d.rows,
                                  .n = (int64_t)m->d.columns,
                                  .k = (int64_t)(m->o.op[0] == CUBLAS_OP_N ? m->a.columns : m->a.rows),
                                  .batch = m->d.batch,
                                  .a = matrix_of(&m->a, m->o.op[0], A),
                                  .b = matrix_of(&m->b, m->o.op[1], B),
                                  .c = matrix_of(&m->d, CUBLAS_OP_N, D),
                                  .alpha.on_device = on_device,
                                  .beta.on_device = on_device,
                                  .compute = (cublasComputeType_t)m->o.compute,
                                  .scale = (cudaDataType)m->o.scale,
                                  .bias = bias ? m->o.bias : NULL,
                                  .activation = m->o.epilogue & CUBLASLT_EPILOGUE_RELU   ? GEMM_STEPS_RELU
                                                : m->o.epilogue & CUBLASLT_EPILOGUE_GELU ? GEMM_STEPS_GELU
                                                                                         : GEMM_STEPS_NO_ACTIVATION };
}

static bool in_order(const struct layout *l)
{
    return l->order == CUBLASLT_ORDER_COL || l->order == CUBLASLT_ORDER_ROW;
}

static bool in_parts(int32_t compute)
{
    return compute == CUBLAS_COMPUTE_32F_FAST_16F || compute == CUBLAS_COMPUTE_32F_FAST_16BF ||
           compute == CUBLAS_COMPUTE_32F_FAST_TF32;
}

// What of it is not there; NULL: nothing.
static const char *refusal(const struct matmul *m)
{
    const uint32_t known =
        CUBLASLT_EPILOGUE_DEFAULT | CUBLASLT_EPILOGUE_RELU | CUBLASLT_EPILOGUE_BIAS | CUBLASLT_EPILOGUE_GELU;
    if (m->o.epilogue & ~known)
        return "of the epilogues, bias, ReLU and GELU are there, and not what training needs";
    if (m->o.pointers > CUBLASLT_POINTER_MODE_DEVICE)
        return "alpha cannot be a vector yet";
    if (!in_order(&m->a) || !in_order(&m->b) || !in_order(&m->c) || !in_order(&m->d))
        return "matrices lie by columns or by rows, and not in tiles";
    if (m->o.bias_type >= 0 && (uint32_t)m->o.bias_type != m->d.type)
        return "bias has to be of D's type";
    if (m->o.bias_stride)
        return "all matrices of a batch have the same bias";
    if (m->c.type != m->d.type || m->c.order != m->d.order)
        return "C and D have to be of the same type, and to lie in the same order";
    if (m->a.type != CUDA_R_32F && in_parts(m->o.compute))
        return "sums by faster types than floats are of floats";
    return NULL;
}

static bool has_room(const struct layout *l)
{
    return l->ld >= (int64_t)(l->order == CUBLASLT_ORDER_ROW ? l->columns : l->rows);
}

// What of it cannot be, as cublasLtMatmul's documentation has it; NULL: nothing. A C whose ld is 0 is one column or
// row.
static const char *contradiction(const struct matmul *m)
{
    const bool a = m->o.op[0] != CUBLAS_OP_N, b = m->o.op[1] != CUBLAS_OP_N;
    if ((a ? m->a.columns : m->a.rows) != m->d.rows || (b ? m->b.rows : m->b.columns) != m->d.columns ||
        (a ? m->a.rows : m->a.columns) != (b ? m->b.columns : m->b.rows) || m->c.rows != m->d.rows ||
        m->c.columns != m->d.columns)
        return "the sizes of A, B, C and D do not fit";
    if (m->a.batch != m->d.batch || m->b.batch != m->d.batch || m->c.batch != m->d.batch)
        return "A, B, C and D are not as many matrices in a batch";
    if (!has_room(&m->a) || !has_room(&m->b) || !has_room(&m->d) || (m->c.ld && !has_room(&m->c)))
        return "the leading dimension of a matrix is shorter than its columns, or its rows where it lies by rows";
    return NULL;
}

static cublasStatus_t judge(const struct matmul *m, const struct blas_product *p, const char *function)
{
    const char *why = refusal(m);
    if (why || blas_supports(p, &why))
        return blas_refuse(function, why);
    why = contradiction(m);
    return why ? blas_fail(CUBLAS_STATUS_INVALID_VALUE, function, why) : CUBLAS_STATUS_SUCCESS;
}

// What else cannot be when it is done; NULL: nothing.
static const char *misuse(const struct matmul *m, const void *A, const void *B, const void *C, const void *D,
                          const void *workspace)
{
    enum { ALIGNED = 256 };  // bytes
    if (!A || !B || !D)
        return "a null pointer";
    if (C == D && (m->c.ld != m->d.ld || m->c.stride != m->d.stride))
        return "C is D, and is described in another way";
    if (m->o.epilogue & CUBLASLT_EPILOGUE_BIAS && !m->o.bias)
        return "its epilogue adds a bias, which is a null pointer";
    if ((uintptr_t)workspace % ALIGNED)
        return "the workspace has to begin at a multiple of 256 bytes";
    return NULL;
}

static size_t bytes_of(uint32_t type)
{
    return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : 2;
}

// D begins as C, from where the product goes on. If C is one column for all, it is copied to each.
static cublasStatus_t begin(const struct matmul *m, const void *C, void *D, cudaStream_t s)
{
    const size_t size = bytes_of(m->d.type);
    const bool rows = m->d.order == CUBLASLT_ORDER_ROW;
    const size_t width = size * (rows ? m->d.columns : m->d.rows), n = rows ? m->d.rows : m->d.columns;
    const size_t to = size * (size_t)m->d.ld, from = size * (size_t)m->c.ld, part = from ? n : 1;
    for (int i = 0; i < m->d.batch; i++)
        for (size_t k = 0; k < n; k += part)
            if (cudaMemcpy2DAsync((char *)D + size * (size_t)(i * m->d.stride) + k * to, to,
                                  (const char *)C + size * (size_t)(i * m->c.stride) + k * from, from ? from : width,
                                  width, part, cudaMemcpyDeviceToDevice, s))
                return CUBLAS_STATUS_EXECUTION_FAILED;
    return CUBLAS_STATUS_SUCCESS;
}

// Of a beta on the device nothing is known here.
static bool reads_c(const struct blas_product *p)
{
    static const char none[8];
    return p->beta.on_device || memcmp(p->beta.at, none, bytes_of(p->scale)) != 0;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t h, cublasLtMatmulDesc_t operation, const void *alpha, const void *A,
                              cublasLtMatrixLayout_t a, const void *B, cublasLtMatrixLayout_t b, const void *beta,
                              const void *C, cublasLtMatrixLayout_t c, void *D, cublasLtMatrixLayout_t d,
                              const cublasLtMatmulAlgo_t *algo, void *workspace, size_t bytes, cudaStream_t stream)
{
    if (!h || !operation || !a || !b || !d || !alpha || !beta)
        return blas_fail(CUBLAS_STATUS_INVALID_VALUE, "cublasLtMatmul", "a null pointer");
    const struct matmul m = matmul_of(operation, a, b, c ? c : d, d);
    struct blas_product p = product_of(&m, A, B, D);
    cublasStatus_t s = judge(&m, &p, p.function);
    const char *why = s ? NULL : misuse(&m, A, B, C, D, workspace);
    if (why)
        return blas_fail(CUBLAS_STATUS_INVALID_VALUE, p.function, why);
    p.alpha.at = alpha, p.beta.at = beta, p.stream = stream;
    if (!s && C && C != D && reads_c(&p))
        s = begin(&m, C, D, stream);
    return s ? s : blas_run((struct cublasContext *)h, &p);
}

// There is one way, which the library chooses when the product is made; it has a workspace of its own.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t h, cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int asked,
                                              cublasLtMatmulHeuristicResult_t results[], int *found)
{
    *found = 0;
    if (!h || !operation || !a || !b || !c || !d || asked < 1)
        return blas_fail(CUBLAS_STATUS_INVALID_VALUE, "cublasLtMatmulAlgoGetHeuristic",
                         "a null pointer, or none asked");
    const struct matmul m = matmul_of(operation, a, b, c, d);
    const struct blas_product p = product_of(&m, NULL, NULL, NULL);
    const cublasStatus_t s = judge(&m, &p, "cublasLtMatmulAlgoGetHeuristic");
    if (s)
        return s;
    results[0] = (cublasLtMatmulHeuristicResult_t){ .state = CUBLAS_STATUS_SUCCESS, .wavesCount = 1 };
    *found = 1;
    return CUBLAS_STATUS_SUCCESS;
}
