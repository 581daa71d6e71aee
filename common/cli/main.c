// The program `simt`: the simulated GPU for any PTX file. command.c reads the command line, inspect.c and run_command.c
// do what it says. exec_command.c has the two commands for whole programs.
#include <stdio.h>
#include <stdlib.h>

#include "base/options.h"
#include "base/progress.h"
#include "base/ptx_file.h"
#include "command.h"
#include "exec_command.h"

static int draw_only(const struct command *c)
{
    char error[DEV_ERROR_MAX];
    char *svg = options_may_write("--out", c->draw.out, error) ? simt_draw_fragment(&c->draw.fragment, error) : NULL;
    bool ok = svg && draw_write(&c->draw, svg, error);
    free(svg);
    return ok ? EXIT_CLEAN : command_unable(error);
}

static int with_file(struct command *c)
{
    char error[DEV_ERROR_MAX];
    size_t bytes;
    char *text = ptx_file_read(c->file, &bytes, error);
    if (!text)
        return command_unable(error);
    struct simt *s = simt_open();
    if (!s) {
        free(text);
        return command_unable("out of memory");
    }
    if (c->sm)
        simt_set_tensor_cores(s, (unsigned)c->sm);
    simt_set_jobs(s, (unsigned)c->jobs);
    simt_set_budget(s, c->budget);
    simt_set_progress(s, progress_shown());
    struct simt_module *m = simt_load(s, c->file, text, bytes, error);
    int status = !m ? command_unable(error) : c->verb == VERB_INSPECT ? command_inspect(m) : command_run(s, m, c);
    simt_close(s);
    free(text);
    return status;
}

static int do_command(struct command *c, int argc, char **argv)
{
    char error[DEV_ERROR_MAX];
    if (!command_parse(c, argc, argv, error))
        return command_unable(error);
    if (c->help) {
        command_help(stdout);
        return EXIT_CLEAN;
    }
    if (c->draw.fragment.operand)
        return draw_only(c);
    return with_file(c);
}

int main(int argc, char **argv)
{
    if (exec_is_meant(argc, argv))
        return exec_command(argc, argv);
    struct command *c = calloc(1, sizeof *c);
    int status = c ? do_command(c, argc, argv) : command_unable("out of memory");
    if (c)
        command_free(c);
    free(c);
    return status;
}
