// See installed.h. The build defines two folders: DATA_FROM_PROGRAM leads from the installed program to its data,
// "../share/gemm-steps"; DATA_FOLDER is the same with the prefix, "/usr/local/share/gemm-steps".
#include "installed.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

// The folder of this program with DATA_FROM_PROGRAM behind it. NULL where the system does not tell.
static const char *folder_by_program(char folder[INSTALLED_PATH])
{
    const ssize_t n = readlink("/proc/self/exe", folder, INSTALLED_PATH);
    if (n <= 0 || n == INSTALLED_PATH)
        return NULL;
    folder[n] = '\0';
    char *end = strrchr(folder, '/');
    const size_t room = end ? (size_t)(folder + INSTALLED_PATH - end) : 0;
    return end && (size_t)snprintf(end, room, "/%s", DATA_FROM_PROGRAM) < room ? folder : NULL;
}

const char *installed_file(const char *built, char path[INSTALLED_PATH])
{
    char own[INSTALLED_PATH];
    const char *slash = strrchr(built, '/'), *name = slash ? slash + 1 : built;
    const char *folder = folder_by_program(own);
    if (!folder || access(folder, F_OK)) {
        if (!access(built, F_OK))
            return built;
        folder = DATA_FOLDER;
    }
    return snprintf(path, INSTALLED_PATH, "%s/%s", folder, name) < INSTALLED_PATH ? path : built;
}
