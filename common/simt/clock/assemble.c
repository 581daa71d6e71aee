// Asks ptxas for a cubin.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "base/program.h"

static struct cubin *read_cubin(FILE *f, const char *kernel, char error[CLOCK_ERROR])
{
    struct cubin *c = NULL;
    unsigned char *data = NULL;
    long bytes = -1;
    if (!fseek(f, 0, SEEK_END))
        bytes = ftell(f);
    rewind(f);
    if (bytes > 0)
        data = malloc((size_t)bytes);
    if (data && fread(data, 1, (size_t)bytes, f) == (size_t)bytes)
        c = cubin_read(data, (size_t)bytes, kernel, error);
    else
        snprintf(error, CLOCK_ERROR, "ptxas wrote no cubin");
    free(data);
    return c;
}

static const char missing[] = "ptxas was not found: it comes with nvcc";

bool clock_available(char error[CLOCK_ERROR])
{
    char *argv[] = { (char *)PTXAS, (char *)"--version", NULL }, *said;
    int status;
    if (!program_run(argv, &said, &status)) {
        snprintf(error, CLOCK_ERROR, "%s", missing);
        return false;
    }
    free(said);
    return true;
}

// A file for an arch of its own (sm_90a), and no other of that generation, is compiled for that.
static bool compile(const char *ptx, const char *kernel, int cc, char *path, char **said, int *status)
{
    char arch[24];
    for (int special = 0; special < 2; special++) {
        snprintf(arch, sizeof arch, "-arch=sm_%d%s", cc, special ? "a" : "");
        char *argv[] = {
            (char *)PTXAS, arch, (char *)"--entry", (char *)kernel, (char *)"-o", path, (char *)ptx, NULL
        };
        if (!program_run(argv, said, status))
            return false;
        char target[32];
        snprintf(target, sizeof target, ".target 'sm_%da'", cc);
        if (!*status || special || !strstr(*said, target))
            return true;
        free(*said);
    }
    return true;
}

struct cubin *clock_assemble(const char *ptx, const char *kernel, const struct card *card, char error[CLOCK_ERROR])
{
    const char *directory = getenv("TMPDIR");
    char path[512], *said;
    int status;
    if (card->cc < SASS_OLDEST || card->cc > SASS_NEWEST) {
        snprintf(error, CLOCK_ERROR,
                 "the %s has compute capability %d.%d: the clock knows the machine code of %d.%d to %d.%d", card->name,
                 card->cc / 10, card->cc % 10, SASS_OLDEST / 10, SASS_OLDEST % 10, SASS_NEWEST / 10, SASS_NEWEST % 10);
        return NULL;
    }
    snprintf(path, sizeof path, "%.400s/simt-clock-XXXXXX", directory && *directory ? directory : "/tmp");
    const int file = mkstemp(path);
    if (file < 0) {
        snprintf(error, CLOCK_ERROR, "%.200s: %s", path, strerror(errno));
        return NULL;
    }
    struct cubin *c = NULL;
    FILE *f = fdopen(file, "rb");
    if (!compile(ptx, kernel, card->cc, path, &said, &status)) {
        snprintf(error, CLOCK_ERROR, "%s", missing);
    } else {
        if (status)
            snprintf(error, CLOCK_ERROR, "ptxas refuses the file for sm_%d: %.*s", card->cc, (int)strcspn(said, "\n"),
                     said);
        free(said);
        fclose(f);
        f = status ? NULL : fopen(path, "rb");  // ptxas may have made a new file
        if (f)
            c = read_cubin(f, kernel, error);
        else if (!status)
            snprintf(error, CLOCK_ERROR, "ptxas wrote no cubin");
    }
    if (f)
        fclose(f);
    unlink(path);
    return c;
}
