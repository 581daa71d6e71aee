// A process that forks off after CUDA was used. A context does not live on in it, so calls that need the device fail
// there, and what is printed and removed when the program ends is its parent's.
#include <pthread.h>
#include <stdlib.h>

#include "cudart.h"

static bool child;

static void begin(void)
{
    child = true;
}

void cudart_not_in_children(void)
{
    pthread_atfork(NULL, NULL, begin);
}

bool cudart_in_child(void)
{
    return child;
}

// --- The end ---

static void (*ends[8])(void);

static void end(void)
{
    for (size_t i = 0; !child && i < sizeof ends / sizeof *ends && ends[i]; i++)
        ends[i]();
}

void cudart_at_end(void (*f)(void))
{
    size_t i = 0;
    while (ends[i] && ends[i] != f)
        i++;
    if (!i && !ends[i])
        atexit(end);
    ends[i] = f;
}
