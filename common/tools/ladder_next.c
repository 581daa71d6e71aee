// What stands below the ladder's table at its end: the steps that this build left out, and what to do next. See
// ladder.h.
//
// The build defines which steps it leaves out (LEFT_OUT, WHY_LEFT_OUT).
#include "base/host.h"
#include "ladder.h"

#include <string.h>
#include <unistd.h>

#include "steps.h"

enum { WORDS = 30 };  // room for a command's words
static const char *const left_out[] = { LEFT_OUT NULL };

void ladder_print_left_out(const struct ladder *l)
{
    if (!left_out[0])
        return;
    fprintf(l->out, "\nNot in this build:");
    for (int i = 0; left_out[i]; i++)
        fprintf(l->out, "%s %s", i ? "," : "", left_out[i]);
    fprintf(l->out, ":\n%s.\n", WHY_LEFT_OUT);
}

const char *ladder_course(char path[LADDER_PATH])
{
    char here[LADDER_PATH];
    if (!host_beside("course", path, LADDER_PATH) || access(path, X_OK) || !getcwd(here, sizeof here))
        return NULL;
    const size_t length = strlen(here);
    return !strncmp(path, here, length) && path[length] == '/' ? path + length + 1 : path;
}

static void print_command(const struct ladder *l, const char *course, const char *words, const char *what)
{
    fprintf(l->out, "  %s %-*s  %s\n", course, WORDS, words, what);
}

// The first step that is wrong, or else the second of all, which is the first to change another.
void ladder_print_next(const struct ladder *l, const char *course)
{
    char words[64], what[128];
    size_t wrong = 0;
    if (!course)
        return;
    while (wrong < n_steps && (!l->rows[wrong].ran || l->rows[wrong].result.verdict != TESTER_WRONG))
        wrong++;
    fprintf(l->out, "\nNext:\n");
    if (wrong < n_steps) {
        const char *name = l->rows[wrong].step->name;
        snprintf(words, sizeof words, "run %.2s --device=sim --sanitize", name);
        snprintf(what, sizeof what, "what is wrong with %s, and where", name);
        print_command(l, course, words, what);
    } else if (n_steps > 1) {
        print_command(l, course, "run 1 --profile", "what a step costs, line by line");
        print_command(l, course, "diff 2", "what the next step changes");
    }
    print_command(l, course, "next", "the exercise that comes next");
}
