// See file.h.
#include "file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *file_read(const char *path)
{
    size_t bytes;
    return file_read_bytes(path, &bytes);
}

char *file_read_bytes(const char *path, size_t *bytes)
{
    char *text = NULL, part[4096];
    size_t n;
    FILE *in = fopen(path, "r"), *out = in ? open_memstream(&text, bytes) : NULL;
    while (out && (n = fread(part, 1, sizeof part, in)) > 0)
        fwrite(part, 1, n, out);
    const bool failed = !in || !out || ferror(in);
    if (in)
        fclose(in);
    if (out && (fclose(out) || failed)) {
        free(text);
        return NULL;
    }
    return text;
}

bool file_write(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");
    const bool written = out && fputs(text, out) >= 0;
    return out && !fclose(out) && written;
}

bool file_may_write(const char *path)
{
    struct stat about;
    if (!stat(path, &about)) {
        if (S_ISDIR(about.st_mode))
            errno = EISDIR;
        return !S_ISDIR(about.st_mode) && !access(path, W_OK);
    }
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const size_t n = slash ? (size_t)(slash + 1 - path) : 0;  // with the slash: "/x" lies in "/"
    if (n >= sizeof folder || (slash && !slash[1]))
        errno = n >= sizeof folder ? ENAMETOOLONG : EISDIR;
    else if (errno == ENOENT)
        return !access(n ? memcpy(memset(folder, 0, n + 1), path, n) : ".", W_OK | X_OK);
    return false;
}

bool scratch_open(struct scratch *s, const char *name, const char *text)
{
    *s = (struct scratch){ .folder = "/tmp/gemm-steps-XXXXXX" };
    if (!mkdtemp(s->folder))
        return false;
    snprintf(s->path, sizeof s->path, "%s/%.30s", s->folder, name);
    if (!text || file_write(s->path, text))
        return true;
    scratch_close(s);
    return false;
}

void scratch_close(struct scratch *s)
{
    unlink(s->path);
    rmdir(s->folder);
}
