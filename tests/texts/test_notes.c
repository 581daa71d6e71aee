// The chapters' form: a NOTES.md has its three layers, drawn pictures that exist, the three lines of what bounds it,
// its sources, and quotes no line of C that stands in no kernel.cu. The step is that of step_case.h; STEPS_FOLDER has
// all kernels. Its numbers, and the code behind marks, are slides/refresh.mjs's business.
//
// A quoted line stands in a ```c or ```diff block; in a diff, a line with '+' stands in this step's kernel and one with
// '-' in some step's.
#include <criterion/criterion.h>
#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file_text.h"
#include "step_case.h"

enum { LINE = 4096 };

// A step of the learner's own may have none.
static char *read_chapter(void)
{
    char path[LINE];
    snprintf(path, sizeof path, "%s/NOTES.md", step_folder());
    if (access(path, F_OK))
        cr_skip_test("%s has no chapter: there is no NOTES.md beside its kernel.cu", STEP.name);
    return file_text(path);
}

// Copies the line at p without blanks at its ends and moves p to the next one; false at the end of the text.
static bool next_line(const char **p, char line[LINE])
{
    if (!**p)
        return false;
    const char *end = strchr(*p, '\n');
    size_t n = end ? (size_t)(end - *p) : strlen(*p);
    cr_assert(n < LINE, "a line of %zu characters", n);
    memcpy(line, *p, n);
    line[n] = '\0';
    *p += n + (end != NULL);
    return true;
}

static const char *trim(char *line)
{
    for (size_t n = strlen(line); n && isspace((unsigned char)line[n - 1]); n--)
        line[n - 1] = '\0';
    while (isspace((unsigned char)*line))
        line++;
    return line;
}

static bool has_line(const char *text, const char *wanted)
{
    char line[LINE];
    while (next_line(&text, line))
        if (!strcmp(trim(line), wanted))
            return true;
    return false;
}

static bool in_any_kernel(const char *wanted)
{
    glob_t found;
    bool yes = false;
    cr_assert(!glob(STEPS_FOLDER "/*/kernel.cu", 0, NULL, &found));
    for (size_t i = 0; i < found.gl_pathc && !yes; i++) {
        char *text = file_text(found.gl_pathv[i]);
        yes = has_line(text, wanted);
        free(text);
    }
    globfree(&found);
    return yes;
}

Test(notes, have_the_headings_of_every_chapter)
{
    static const char *const headings[] = {
        "\n## The idea\n",
        "\n**What hurts.**",
        "\n**The idea.**",
        "\n**The lines that matter.**",
        "\n**What it buys.**",
        "\n## Counted\n",
        "\n### The diff\n",
        "\n### Why it is faster\n",
        "\n### What the simulator counts\n",
        "\n### What the GPU measures\n",
        "\n### What bounds it\n",
        "\n- **The ",  // pipe, perhaps linked
        "\n- **The formula**",
        "\n- **The share**",
        "\n### What still hurts\n",
        "\n## For the curious\n",
        "\n## Questions learners ask\n",
        "\n## Exercise\n",
        "\n## Sources\n",
        "](https://",
    };
    char *notes = read_chapter();
    const char *p = notes;
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
        const char *at = strstr(p, headings[i]);
        cr_assert(at, "%s: no '%s' after what comes before it", STEP.name, headings[i]);
        p = at;
    }
    free(notes);
}

Test(notes, quote_only_code_that_exists)
{
    char *notes = read_chapter(), *kernel = file_text(step_kernel());
    const char *p = notes;
    char line[LINE];
    enum { PROSE, C, DIFF, OTHER } block = PROSE;
    int quoted = 0;
    bool mark = false;
    while (next_line(&p, line)) {
        const bool below = mark;
        mark = !strncmp(line, "<!-- code: ", 11) || !strncmp(line, "<!-- diff: ", 11);
        quoted += mark;
        if (!strncmp(line, "```", 3)) {
            block = below                      ? OTHER
                    : block != PROSE           ? PROSE
                    : !strcmp(line, "```c")    ? C
                    : !strcmp(line, "```diff") ? DIFF
                                               : OTHER;
            continue;
        }
        bool minus = block == DIFF && *line == '-';
        if (block == DIFF && *line)
            *line = ' ';
        const char *code = trim(line);
        if ((block != C && block != DIFF) || !*code || !strcmp(code, "..."))
            continue;
        cr_assert(minus ? in_any_kernel(code) : has_line(kernel, code), "%s quotes '%s', which is in no kernel.cu",
                  STEP.name, code);
        quoted++;
    }
    cr_assert(quoted > 0, "%s quotes no code", STEP.name);
    free(notes);
    free(kernel);
}

// On its first page at least one.
Test(notes, have_drawn_pictures)
{
    char *notes = read_chapter(), path[LINE];
    const char *p = notes, *counted = strstr(notes, "\n## Counted");
    int pictures = 0, first_page = 0;
    for (; (p = strstr(p, "](../../slides/pictures/")); p++) {
        const int n = (int)strcspn(p + 2, ")");
        snprintf(path, sizeof path, "%s/%.*s", step_folder(), n, p + 2);
        cr_expect(!access(path, R_OK), "%s shows %s, which is not there", STEP.name, path);
        pictures++;
        first_page += p < counted;
    }
    cr_assert(first_page >= 1, "%s has no picture on its first page", STEP.name);
    cr_assert(pictures >= 2, "%s has %d pictures", STEP.name, pictures);
    free(notes);
}
