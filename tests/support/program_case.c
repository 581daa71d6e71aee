// See program_case.h.
#include "program_case.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void slurp(FILE *f, char text[OUTPUT])
{
    rewind(f);
    size_t n = fread(text, 1, OUTPUT - 1, f);
    text[n] = '\0';
    fclose(f);
}

static void run_with(struct run *r, const char *program, va_list args)
{
    char *argv[48] = { (char *)program };
    for (int i = 1; (argv[i] = va_arg(args, char *)); i++)
        cr_assert_lt(i, 47, "more words than there is room for");
    FILE *out = tmpfile(), *err = tmpfile();
    cr_assert(out && err, "no temporary files");
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        dup2(fileno(out), 1);
        dup2(fileno(err), 2);
        execv(program, argv);
        _exit(127);
    }
    int status = 0;
    cr_assert(child > 0 && waitpid(child, &status, 0) == child);
    r->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    slurp(out, r->out);
    slurp(err, r->err);
}

void run(struct run *r, const char *program, ...)
{
    va_list args;
    va_start(args, program);
    run_with(r, program, args);
    va_end(args);
}

static int lines(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

void refused(const struct run *r, const char *what, const char *word)
{
    cr_assert(r->status > 0 && r->status < 126, "%s: exit status %d", what, r->status);
    cr_assert(lines(r->err) == 1, "%s: %d lines on stderr: %s", what, lines(r->err), r->err);
    cr_assert(strstr(r->err, word), "%s: '%s' does not mention '%s'", what, r->err, word);
    cr_assert(!r->out[0], "%s: wrote to stdout: %s", what, r->out);
}

void shown(const struct run *r, int status, const char *text)
{
    cr_assert(r->status == status, "exit status %d, not %d: %s%s", r->status, status, r->out, r->err);
    cr_assert(strstr(r->out, text), "'%s' is not in: %s%s", text, r->out, r->err);
}

static struct run last;  // of shows and refuses

void shows(int status, const char *text, const char *program, ...)
{
    va_list args;
    va_start(args, program);
    run_with(&last, program, args);
    va_end(args);
    shown(&last, status, text);
}

void refuses(const char *what, const char *word, const char *program, ...)
{
    va_list args;
    va_start(args, program);
    run_with(&last, program, args);
    va_end(args);
    refused(&last, what, word);
}

static char path[64];  // of the scratch file; one at a time

void forget_scratch(void)
{
    if (path[0])
        unlink(path);
    path[0] = '\0';
}

const char *scratch(const char *content, size_t bytes)
{
    forget_scratch();
    strcpy(path, "/tmp/gemm-steps-XXXXXX");
    int fd = mkstemp(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");
    cr_assert(f && fwrite(content, 1, bytes, f) == bytes && !fclose(f), "no scratch file");
    return path;
}
