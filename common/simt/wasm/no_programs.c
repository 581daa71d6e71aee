// There are no other programs beside a page: base/program.h for WebAssembly.
#include "base/program.h"

#include <stddef.h>

bool program_run(char *const argv[], char **said, int *status)
{
    (void)argv;
    (void)status;
    *said = NULL;
    return false;
}
