// See predicted.h.
#include "predicted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ptx_file.h"
#include "tester/predict.h"

enum { SIZE = 2048 };  // of M, N and K: enough blocks for every SM

// Of the elements of A, B and C, by what the kernel gemm does: one for halves converts them, or multiplies them with
// tensor cores. Beside it the file may have others, such as one that packs halves.
static bool type_of(const char *ptx, enum dev_type *type, char error[DEV_ERROR_MAX])
{
    size_t bytes;
    char *text = ptx_file_read(ptx, &bytes, error), *gemm = text ? strstr(text, ".entry gemm") : NULL;
    char *next = gemm ? strstr(gemm + 1, ".entry ") : NULL;
    if (next)
        *next = '\0';
    if (gemm)
        *type = strstr(gemm, ".f16") ? DEV_F16 : strstr(gemm, ".f64") ? DEV_F64 : DEV_F32;
    free(text);
    return gemm;
}

bool predicted_print(const char *ptx)
{
    char error[DEV_ERROR_MAX];
    struct step step = { .name = "gemm", .ptx = ptx };
    struct tester_options o = tester_defaults;
    o.m = o.n = o.k = SIZE;
    const struct card *card = card_named("H200");
    struct geometries all;
    if (!type_of(ptx, &step.type, error) || !geometries_read(ptx, &all, error)) {
        printf("  no time is predicted: this exercise is no whole matrix multiply with sizes of its own\n");
        return false;
    }
    struct simt_prediction *p = predict_step(&step, &o, card, error);
    if (!p) {
        printf("  no time is predicted: %s\n", error);
        return false;
    }
    const double ms = simt_predicted_ms(p);
    printf("  predicted at %d x %d x %d on an H200: %.3g ms, %.1f TFLOP/s\n  %s\n", SIZE, SIZE, SIZE, ms,
           2e-9 * SIZE * SIZE * SIZE / ms, simt_predicted_bound(p));
    simt_prediction_free(p);
    return true;
}
