// Multiplies two small matrices with the library: on a GPU if there is one, else on the simulated GPU.
//
//     cc example.c $(pkg-config --cflags --libs gemm-steps) -o example && ./example
#include <gemm-steps/gemm.h>
#include <stdio.h>

enum { M = 2, N = 3, K = 4 };

int main(void)
{
    const float A[M][K] = { { 1, 2, 3, 4 }, { 5, 6, 7, 8 } };
    const float B[K][N] = { { 1, 0, 2 }, { 0, 1, 2 }, { 1, 1, 2 }, { 0, 0, 2 } };
    float C[M][N];
    gemm_steps *h;
    if (gemm_steps_create(GEMM_STEPS_ANY, &h) != GEMM_STEPS_OK) {
        fprintf(stderr, "%s\n", gemm_steps_error(NULL));
        return 1;
    }
    const gemm_steps_status status = gemm_steps_f32_host(h, M, N, K, 1, &A[0][0], &B[0][0], 0, &C[0][0]);
    if (status == GEMM_STEPS_OK) {
        printf("%s on %s\n", gemm_steps_kernel(h), gemm_steps_device(h));
        for (int row = 0; row < M; row++)
            printf("%4g %4g %4g\n", C[row][0], C[row][1], C[row][2]);
    } else {
        fprintf(stderr, "%s\n", gemm_steps_error(h));
    }
    gemm_steps_destroy(h);
    return status == GEMM_STEPS_OK ? 0 : 1;
}
