// See installed.h. The build defines two folders: DATA_FROM_PROGRAM leads from the installed program to its data,
// "../share/gemm-steps"; DATA_FOLDER is the same with the prefix, "/usr/local/share/gemm-steps".
#include "installed.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/host.h"

const char *installed_file(const char *built, char path[INSTALLED_PATH])
{
    char own[INSTALLED_PATH];
    const char *slash = strrchr(built, '/'), *name = slash ? slash + 1 : built;
    const char *folder = host_beside(DATA_FROM_PROGRAM, own, sizeof own) ? own : NULL;
    if (!folder || access(folder, F_OK)) {
        if (!access(built, F_OK))
            return built;
        folder = DATA_FOLDER;
    }
    return snprintf(path, INSTALLED_PATH, "%s/%s", folder, name) < INSTALLED_PATH ? path : built;
}
