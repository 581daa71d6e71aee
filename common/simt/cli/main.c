// The program `simt`: the simulated GPU for any PTX file. command.c reads the command line, inspect.c and run_command.c
// do what it says.
#include <stdio.h>
#include <stdlib.h>

#include "base/progress.h"
#include "base/ptx_file.h"
#include "command.h"
#include "simt/draw/draw.h"

static int draw_only(const struct command *c)
{
    char error[DEV_ERROR_MAX];
    char *svg = draw_fragment(&c->draw.fragment, error);
    bool ok = svg && draw_write(&c->draw, svg, error);
    free(svg);
    return ok ? EXIT_CLEAN : command_unable(error);
}

// With the file's text in a simulated GPU of its own.
static int with_file(struct command *c, const char *text, size_t bytes)
{
    char error[DEV_ERROR_MAX];
    struct simt *s = simt_new();
    if (!s)
        return command_unable("out of memory");
    s->sm = c->sm ? (unsigned)c->sm : s->sm;
    s->jobs = (unsigned)c->jobs;
    s->checks = c->verb == VERB_CHECK;
    s->progress = progress_on_terminal();
    s->budget = c->budget ? c->budget : s->budget;
    struct simt_module *m = simt_load(s, c->file, text, bytes, error);
    int status = !m ? command_unable(error) : c->verb == VERB_INSPECT ? command_inspect(m) : command_run(s, m, c);
    simt_free(s);
    return status;
}

static int do_command(struct command *c, int argc, char **argv)
{
    char error[DEV_ERROR_MAX];
    size_t bytes = 0;
    if (!command_parse(c, argc, argv, error))
        return command_unable(error);
    if (c->help) {
        command_help(stdout);
        return EXIT_CLEAN;
    }
    if (c->draw.fragment.operand)
        return draw_only(c);
    char *text = ptx_file_read(c->file, &bytes, error);
    int status = text ? with_file(c, text, bytes) : command_unable(error);
    free(text);
    return status;
}

int main(int argc, char **argv)
{
    struct command *c = calloc(1, sizeof *c);
    int status = c ? do_command(c, argc, argv) : command_unable("out of memory");
    if (c)
        command_free(c);
    free(c);
    return status;
}
