// Asks ptxas for a cubin, once in a run of the program.
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "base/file.h"
#include "base/program.h"
#include "base/ptxas.h"

// What ptxas has made while this program runs: who predicts at other sizes, or with other constants, asks for the same.
struct made {
    struct made *next;
    int cc;
    char *kernel, *ptx;  // its text
    unsigned char *data;
    size_t bytes;
};
static struct made *all_made;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const struct made *find(const char *text, const char *kernel, int cc)
{
    pthread_mutex_lock(&lock);
    const struct made *m = all_made;
    while (m && (m->cc != cc || strcmp(m->kernel, kernel) || strcmp(m->ptx, text)))
        m = m->next;
    pthread_mutex_unlock(&lock);
    return m;
}

static void keep(const char *text, const char *kernel, int cc, unsigned char *data, size_t bytes)
{
    struct made *m = malloc(sizeof *m);
    char *copy = strdup(text), *name = strdup(kernel);
    if (!m || !copy || !name) {
        free(m);
        free(copy);
        free(name);
        free(data);
        return;
    }
    *m = (struct made){ NULL, cc, name, copy, data, bytes };
    pthread_mutex_lock(&lock);
    m->next = all_made;
    all_made = m;
    pthread_mutex_unlock(&lock);
}

static const char missing[] = "ptxas was not found: it comes with nvcc";

bool clock_available(char error[CLOCK_ERROR])
{
    char *argv[] = { (char *)ptxas_program(), (char *)"--version", NULL }, *said;
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
            (char *)ptxas_program(), arch, (char *)"--entry", (char *)kernel, (char *)"-o", path, (char *)ptx, NULL
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

// Has ptxas write the kernel's cubin into path, and reads it.
static unsigned char *run_ptxas(const char *ptx, const char *kernel, const struct card *card, char *path, size_t *bytes,
                                char error[CLOCK_ERROR])
{
    char *said;
    int status;
    if (!compile(ptx, kernel, card->cc, path, &said, &status)) {
        snprintf(error, CLOCK_ERROR, "%s", missing);
        return NULL;
    }
    unsigned char *data = status ? NULL : (unsigned char *)file_read_bytes(path, bytes);
    if (status)
        snprintf(error, CLOCK_ERROR, "ptxas refuses the file for sm_%d: %.*s", card->cc, (int)strcspn(said, "\n"),
                 said);
    else if (!data)
        snprintf(error, CLOCK_ERROR, "ptxas wrote no cubin");
    free(said);
    return data;
}

static struct cubin *assemble(const char *ptx, const char *text, const char *kernel, const struct card *card,
                              char error[CLOCK_ERROR])
{
    const struct made *m = find(text, kernel, card->cc);
    if (m)
        return cubin_read(m->data, m->bytes, kernel, error);
    const char *directory = getenv("TMPDIR");
    char path[512];
    snprintf(path, sizeof path, "%.400s/simt-clock-XXXXXX", directory && *directory ? directory : "/tmp");
    const int file = mkstemp(path);
    if (file < 0) {
        snprintf(error, CLOCK_ERROR, "%.200s: %s", path, strerror(errno));
        return NULL;
    }
    close(file);  // ptxas may make a new file
    size_t bytes;
    unsigned char *data = run_ptxas(ptx, kernel, card, path, &bytes, error);
    unlink(path);
    struct cubin *c = data ? cubin_read(data, bytes, kernel, error) : NULL;
    if (c)
        keep(text, kernel, card->cc, data, bytes);
    else
        free(data);
    return c;
}

struct cubin *clock_assemble(const char *ptx, const char *kernel, const struct card *card, char error[CLOCK_ERROR])
{
    if (card->cc < SASS_OLDEST || card->cc > SASS_NEWEST) {
        snprintf(error, CLOCK_ERROR,
                 "the %s has compute capability %d.%d: the clock knows the machine code of %d.%d to %d.%d", card->name,
                 card->cc / 10, card->cc % 10, SASS_OLDEST / 10, SASS_OLDEST % 10, SASS_NEWEST / 10, SASS_NEWEST % 10);
        return NULL;
    }
    char *text = file_read(ptx);
    if (!text) {
        snprintf(error, CLOCK_ERROR, "%.200s: %s", ptx, strerror(errno));
        return NULL;
    }
    struct cubin *c = assemble(ptx, text, kernel, card, error);
    free(text);
    return c;
}
