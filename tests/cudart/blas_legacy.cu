// cuBLAS by its first interface, without handles.
#include <cstdio>
#include <cublas.h>

int main()
{
    const float a[6] = { 1, 2, 3, 4, 5, 6 }, b[6] = { 1, 0, 2, 1, 0, 3 };
    float *A, *B, *C, c[4];
    printf("init %d\n", cublasInit());
    cublasAlloc(6, sizeof *A, (void **)&A);
    cublasAlloc(6, sizeof *B, (void **)&B);
    cublasAlloc(4, sizeof *C, (void **)&C);
    cublasSetMatrix(2, 3, sizeof *A, a, 2, A, 2);
    cublasSetMatrix(3, 2, sizeof *B, b, 3, B, 3);
    cublasSgemm('n', 'N', 2, 2, 3, 2, A, 2, B, 3, 0, C, 2);
    cublasGetMatrix(2, 2, sizeof *C, C, 2, c, 2);
    printf("error %d, product %g %g %g %g\n", cublasGetError(), c[0], c[1], c[2], c[3]);
    printf("dot %g, norm %.3f\n", cublasSdot(6, A, 1, B, 1), cublasSnrm2(6, A, 1));
    cublasSgemm('n', 'n', 2, 2, 3, 1, A, 1, B, 3, 0, C, 2);  // a leading dimension below the rows
    printf("error %d\n", cublasGetError());
    printf("then %d\n", cublasGetError());
    printf("free %d, shut down %d\n", cublasFree(A), cublasShutdown());
    return 0;
}
