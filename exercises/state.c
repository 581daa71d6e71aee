// See state.h. EXERCISES_FOLDER is the folder of the exercises, unless the environment has EXERCISES.
#include "base/file.h"
#include "base/text.h"
#include "state.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cut.h"

const char *state_path(const char *name, const char *file, char path[STATE_PATH_MAX])
{
    const char *folder = getenv("EXERCISES");
    snprintf(path, STATE_PATH_MAX, "%s%s%s/%s", folder ? folder : EXERCISES_FOLDER, *name ? "/" : "", name, file);
    return path;
}

// A file of an exercise, to be freed, or else the course's: a class may be given a folder with the kernels alone. NULL,
// with the path of the course's, where neither is there.
static char *read_or_course(const char *name, const char *file, char path[STATE_PATH_MAX])
{
    char *text = file_read(state_path(name, file, path));
    if (text)
        return text;
    snprintf(path, STATE_PATH_MAX, EXERCISES_FOLDER "/%s/%s", name, file);
    return file_read(path);
}

static char *cut_of(const char *name, enum cut kind, char *error, size_t room)
{
    char path[STATE_PATH_MAX], why[CUT_ERROR_MAX];
    char *source = read_or_course(name, "source.cu", path);
    char *text = source ? cut_text(source, kind, NULL, why) : NULL;
    if (!source)
        snprintf(error, room, "%s cannot be read", path);
    else if (!text)
        snprintf(error, room, "%s, %s", path, why);
    free(source);
    return text;
}

char *state_stub(const char *name, char *error, size_t room)
{
    return cut_of(name, CUT_STUB, error, room);
}

char *state_solution(const char *name, char *error, size_t room)
{
    return cut_of(name, CUT_SOLUTION, error, room);
}

static uint64_t hash_of(const char *text)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return h;
}

// The rest of the last line of .progress that begins with the exercise and the word; false where there is none.
static bool last_line(const char *name, const char *word, char rest[64])
{
    char path[STATE_PATH_MAX], line[256], begin[128];
    const int n = snprintf(begin, sizeof begin, "%s %s ", name, word);
    FILE *in = fopen(state_path("", ".progress", path), "r");
    bool found = false;
    while (in && fgets(line, sizeof line, in))
        if (!strncmp(line, begin, (size_t)n)) {
            found = true;
            snprintf(rest, 64, "%.*s", (int)strcspn(line + n, "\n"), line + n);
        }
    if (in)
        fclose(in);
    return found;
}

// One write, so that checks which run at the same time do not mix their lines.
static bool add_line(const char *line)
{
    char path[STATE_PATH_MAX];
    const int f = open(state_path("", ".progress", path), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    const bool written = f >= 0 && write(f, line, strlen(line)) == (ssize_t)strlen(line);
    return (f < 0 || !close(f)) && written;
}

const char *state_title(const char *name, char title[STATE_TITLE_MAX])
{
    char path[STATE_PATH_MAX];
    char *task = read_or_course(name, "TASK.md", path);
    const char *p = task && text_begins(task, "# ") ? task + 2 : "";
    p += strcspn(p, " \n");
    p += strspn(p, " ");
    snprintf(title, STATE_TITLE_MAX, "%.*s", (int)strcspn(p, "\n"), p);
    free(task);
    return title;
}

enum state state_of(const char *name)
{
    char path[STATE_PATH_MAX], error[CUT_ERROR_MAX], rest[64];
    char *mine = file_read(state_path(name, "kernel.cu", path));
    if (!mine)
        return STATE_MISSING;
    char *stub = state_stub(name, error, sizeof error);
    enum state s = stub && !strcmp(mine, stub) ? STATE_NOT_STARTED : STATE_STARTED;
    if (s == STATE_STARTED && last_line(name, "done", rest) && strtoull(rest, NULL, 16) == hash_of(mine))
        s = STATE_DONE;
    free(mine);
    free(stub);
    return s;
}

int state_hints(const char *name)
{
    char rest[64];
    return last_line(name, "hint", rest) ? atoi(rest) : 0;
}

bool state_passed(const char *name)
{
    char path[STATE_PATH_MAX], line[256], day[16];
    const time_t now = time(NULL);
    struct tm tm;
    char *mine = file_read(state_path(name, "kernel.cu", path));
    if (!mine)
        return false;
    strftime(day, sizeof day, "%Y-%m-%d", localtime_r(&now, &tm));
    snprintf(line, sizeof line, "%s done %016" PRIx64 " %s\n", name, hash_of(mine), day);
    free(mine);
    return add_line(line);
}

bool state_hinted(const char *name, int hints)
{
    char line[256];
    snprintf(line, sizeof line, "%s hint %d\n", name, hints);
    return add_line(line);
}
