// The program `simt`: the simulated GPU for any PTX file. command.c reads the command line, inspect.c and run_command.c
// do what it says.
#include <stdio.h>
#include <stdlib.h>

#include "base/progress.h"
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

static int with_file(struct command *c)
{
    char error[DEV_ERROR_MAX];
    struct dev *d = dev_open(DEV_SIM, error);
    if (!d)
        return command_unable(error);
    if (c->sm)
        dev_set_tensor_cores(d, (unsigned)c->sm);
    dev_set_jobs(d, (unsigned)c->jobs);
    dev_set_budget(d, c->budget);
    dev_set_progress(d, progress_on_terminal());
    struct dev_module *m = dev_load(d, c->file);
    int status = !m                        ? command_unable(dev_error(d))
                 : c->verb == VERB_INSPECT ? command_inspect(simt_module_of(m))
                                           : command_run(d, m, c);
    dev_close(d);
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
    struct command *c = calloc(1, sizeof *c);
    int status = c ? do_command(c, argc, argv) : command_unable("out of memory");
    if (c)
        command_free(c);
    free(c);
    return status;
}
