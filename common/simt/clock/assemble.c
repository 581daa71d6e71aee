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

struct cubin *clock_assemble(const char *ptx, const char *kernel, const struct card *card, char error[CLOCK_ERROR])
{
    const char *directory = getenv("TMPDIR");
    char path[512], arch[24], *said;
    int status;
    snprintf(path, sizeof path, "%.400s/simt-clock-XXXXXX", directory && *directory ? directory : "/tmp");
    snprintf(arch, sizeof arch, "-arch=sm_%d", card->cc);
    const int file = mkstemp(path);
    if (file < 0) {
        snprintf(error, CLOCK_ERROR, "%.200s: %s", path, strerror(errno));
        return NULL;
    }
    char *argv[] = { (char *)PTXAS, arch, (char *)"-o", path, (char *)ptx, NULL };
    struct cubin *c = NULL;
    FILE *f = fdopen(file, "rb");
    if (!program_run(argv, &said, &status)) {
        snprintf(error, CLOCK_ERROR, "%s", missing);
    } else {
        if (status && strstr(said, ".target 'sm_90a'"))
            snprintf(error, CLOCK_ERROR, "TMA, mbarriers and wgmma (sm_90a) are not timed yet");
        else if (status)
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
