// See host.h.
#include "host.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

double host_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

unsigned host_processors(void)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}

bool host_beside(const char *name, char *path, size_t size)
{
    const ssize_t n = readlink("/proc/self/exe", path, size);
    if (n <= 0 || (size_t)n == size)
        return false;
    path[n] = '\0';
    char *slash = strrchr(path, '/'), *end = slash ? slash + 1 : path;
    const size_t room = (size_t)(path + size - end);
    return (size_t)snprintf(end, room, "%s", name) < room;
}
