// What kernels print. As on a card it stays in the device until the program makes a call that looks after it: one that
// waits or asks whether work has ended, launches a kernel or a function of the host, records an event, copies and
// waits, frees, or destroys. An H200 was asked which calls do (driver 580): cudaMalloc, cudaMemset, asynchronous
// copies, graphs and the program's end do not. So what is printed last is lost if the program waits for nothing after
// it.
#include <stdlib.h>

#include "cudart.h"

static FILE *stream;  // its text is not printed yet
static char *text;
static size_t bytes;

static void say_lost(void)
{
    if (stream && ftello(stream) > 0)
        fprintf(stderr,
                "cudart: what kernels printed last is lost, %ld bytes: the program has ended without waiting "
                "for them (cudaDeviceSynchronize)\n",
                (long)ftello(stream));
}

void cudart_keep_prints(void)
{
    if (stream)
        return;
    stream = open_memstream(&text, &bytes);
    simt_set_output(cudart_gpu(), stream);
    cudart_at_end(say_lost);
}

void cudart_print(void)
{
    cudart_lock();
    if (stream && ftello(stream) > 0 && !cudart_in_child()) {
        fclose(stream);
        fwrite(text, 1, bytes, stdout);
        free(text);
        stream = NULL;
        cudart_keep_prints();
    }
    cudart_unlock();
}
