// See ptx_file.h.
#include "text.h"
#include "ptx_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PTX_MAX ((size_t)64 << 20)  // bytes; nvcc's output for the largest kernels stays far below

bool ptx_text_ok(const char *name, const char *text, size_t bytes, char error[DEV_ERROR_MAX])
{
    if (bytes && !memchr(text, 0, bytes))
        return true;
    return error_set(error, "%.300s: %s", name, bytes ? "binary data where PTX text is expected" : "the file is empty");
}

static char *fail(const char *path, const char *why, char error[DEV_ERROR_MAX])
{
    snprintf(error, DEV_ERROR_MAX, "%.300s: %s", path, why);
    return NULL;
}

char *ptx_file_read(const char *path, size_t *bytes, char error[DEV_ERROR_MAX])
{
    struct stat info;
    if (stat(path, &info))
        return fail(path, strerror(errno), error);
    if (!S_ISREG(info.st_mode))  // opening a FIFO would wait for a writer
        return fail(path, S_ISDIR(info.st_mode) ? "a directory, not a PTX file" : "a device or pipe, not a PTX file",
                    error);
    if (info.st_size > (off_t)PTX_MAX)
        return fail(path, "larger than 64 MiB: this is no PTX file", error);
    FILE *f = fopen(path, "rb");
    if (!f)
        return fail(path, strerror(errno), error);
    char *text = malloc((size_t)info.st_size + 1);
    *bytes = text ? fread(text, 1, (size_t)info.st_size, f) : 0;
    bool read = text && !ferror(f);
    fclose(f);
    if (!read)
        fail(path, text ? "cannot be read" : "out of memory", error);
    if (!read || !ptx_text_ok(path, text, *bytes, error)) {
        free(text);
        return NULL;
    }
    text[*bytes] = '\0';
    return text;
}

unsigned ptx_text_target(const char *text, bool *alone)
{
    static const char directive[] = ".target", prefix[] = "sm_";
    *alone = false;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += strspn(line, " \t\r\n");
        if (!text_begins(line, directive))
            continue;
        line += strlen(directive);
        line += strspn(line, " \t");
        if (!text_begins(line, prefix))
            return 0;
        char *end;
        const unsigned long sm = strtoul(line + strlen(prefix), &end, 10);
        *alone = *end == 'a';
        return sm < 1000 ? (unsigned)sm : 0;
    }
    return 0;
}

unsigned ptx_file_alone(const char *path)
{
    char ignored[DEV_ERROR_MAX];
    size_t bytes;
    bool alone = false;
    char *text = ptx_file_read(path, &bytes, ignored);
    const unsigned sm = text ? ptx_text_target(text, &alone) : 0;
    free(text);
    return alone ? sm : 0;
}

const char *ptx_file_compiler(const char *path, char name[PTX_COMPILER])
{
    char head[1024];
    FILE *f = fopen(path, "rb");
    const size_t n = f ? fread(head, 1, sizeof head - 1, f) : 0;
    head[n] = '\0';
    if (f)
        fclose(f);
    const char *tools = strstr(head, "Cuda compilation tools, release ");
    const char *release = tools ? strstr(tools, "release ") + strlen("release ") : NULL;
    *name = '\0';
    if (release)
        snprintf(name, PTX_COMPILER, "nvcc %.*s", (int)strspn(release, "0123456789."), release);
    else if (strstr(head, "LLVM NVPTX Back-End"))
        snprintf(name, PTX_COMPILER, "clang");
    return name;
}

static bool begins_line(const char *text, const char *p)
{
    while (p > text && (p[-1] == ' ' || p[-1] == '\t'))
        p--;
    return p == text || p[-1] == '\n';
}

bool ptx_file_source(const char *ptx, unsigned i, char path[PTX_SOURCE])
{
    char ignored[DEV_ERROR_MAX];
    size_t bytes;
    bool found = false;
    char *text = ptx_file_read(ptx, &bytes, ignored);
    for (const char *p = text; p && !found && (p = strstr(p, ".file")); p++)
        found = begins_line(text, p) && sscanf(p, ".file %*u \"%1023[^\"]\"", path) == 1 && !i--;
    free(text);
    return found;
}

bool ptx_file_is_older(const char *ptx, const char *source)
{
    struct stat made, edited;
    if (stat(ptx, &made) || stat(source, &edited))
        return false;
    const long long seconds = (long long)edited.st_mtim.tv_sec - (long long)made.st_mtim.tv_sec;
    return seconds ? seconds > 0 : edited.st_mtim.tv_nsec > made.st_mtim.tv_nsec;
}
