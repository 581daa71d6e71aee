// The line mode of the watch: one command a line, from a terminal or a script.
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "screen.h"
#include "session.h"
#include "terminal.h"

// A script's commands are printed, so that what it leaves can be read.
static void serve(struct session *s, FILE *in)
{
    char line[SESSION_LINE], last[SESSION_LINE] = "";
    const bool typed = isatty(fileno(in));
    while (!s->done) {
        fputs("watch> ", s->out);
        fflush(s->out);
        if (!fgets(line, sizeof line, in))
            break;
        if (!typed)
            fprintf(s->out, "%.*s\n", (int)strcspn(line, "\n"), line);
        if (line[strspn(line, " \t\r\n")])
            memcpy(last, line, sizeof last);
        if (!session_obey(s, last))
            fprintf(s->out, "%s\n", s->error);
    }
    if (!s->done)
        fputc('\n', s->out);
}

static void lines(struct session *s, const struct watch_begin *begin, FILE *in)
{
    fprintf(s->out, "%s, block %" PRIu64 ": %" PRIu64 " steps of %u warps. help lists the commands.\n",
            simt_kernel_about(s->kernel).name, watch_block(s->watch), watch_steps(s->watch), watch_warps(s->watch));
    if (!session_begin(s, begin))
        fprintf(s->out, "%s\n", s->error);
    serve(s, in);
}

bool watch_lines(struct simt *simt, struct simt_kernel *k, const struct dev_launch *launch,
                 const struct watch_begin *begin, FILE *in, FILE *out, char error[DEV_ERROR_MAX])
{
    struct session s = { .simt = simt, .kernel = k, .launch = launch, .out = out, .error = error };
    if (!session_open(&s, begin))
        return false;
    lines(&s, begin, in);
    watch_close(s.watch);
    return true;
}

bool watch_terminal(struct simt *simt, struct simt_kernel *k, const struct dev_launch *launch,
                    const struct watch_begin *begin, char error[DEV_ERROR_MAX])
{
    struct session s = { .simt = simt, .kernel = k, .launch = launch, .out = stdout, .error = error };
    if (!session_open(&s, begin))
        return false;
    if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && screen_open()) {
        screen_serve(&s, begin);
        screen_close();
    } else {
        lines(&s, begin, stdin);
    }
    watch_close(s.watch);
    return true;
}
