// See course_text.h.
#include "course_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/program.h"
#include "base/ptx_file.h"
#include "base/source.h"
#include "text_diff.h"

enum { WORDS = 12, COMMIT = 72, EMAIL = 256 };

// What git says in the folder of the file, to these words up to a NULL; NULL where it fails. To be freed.
static char *git(const char *path, ...)
{
    char folder[PTX_SOURCE], *argv[WORDS + 1] = { (char *)"git", (char *)"-C", folder }, *said = NULL;
    int n = 3, status = 1;
    va_list words;
    va_start(words, path);
    snprintf(folder, sizeof folder, "%.*s", (int)(source_base_name(path) - path), path);
    while (n < WORDS && (argv[n] = va_arg(words, char *)))
        n++;
    va_end(words);
    if (*folder && program_run(argv, &said, &status) && !status)
        return said;
    free(said);
    return NULL;
}

static char *text_at(const char *path, const char *commit)
{
    char name[COMMIT + PTX_SOURCE];
    snprintf(name, sizeof name, "%s:./%s", commit, source_base_name(path));
    return git(path, "cat-file", "blob", name, NULL);
}

// The last commit that a remote has as well; false: there is none.
static bool find_base(const char *path, char base[COMMIT])
{
    static const char *const branches[] = { "upstream/HEAD", "origin/HEAD", "@{upstream}" };
    bool found = false;
    for (size_t i = 0; i < sizeof branches / sizeof *branches && !found; i++) {
        char *said = git(path, "merge-base", "HEAD", branches[i], NULL);
        found = said && sscanf(said, "%71s", base) == 1;
        free(said);
    }
    return found;
}

// Who commits here; empty: nobody can.
static void find_own(const char *path, char own[EMAIL])
{
    char *said = git(path, "var", "GIT_AUTHOR_IDENT", NULL);
    if (!said || sscanf(said, "%*[^<]<%255[^>]", own) != 1)
        *own = '\0';
    free(said);
}

// The next commit of a log of lines "COMMIT EMAIL"; NULL: there is none.
static const char *next_commit(const char *log, char commit[COMMIT], char email[EMAIL])
{
    int n = 0;
    return log && sscanf(log, "%71s %255s %n", commit, email, &n) == 2 && n ? log + n : NULL;
}

// The commits of the file, the newest first, as such a log.
static char *find_log(const char *path, const char *from)
{
    return git(path, "log", "--format=%H %ae", from, "--", source_base_name(path), NULL);
}

struct course_text course_text_find(const char *path)
{
    char own[EMAIL], email[EMAIL], commit[COMMIT] = "HEAD", newest[COMMIT] = "";
    struct course_text t = { .published = find_base(path, commit) };
    char *log = find_log(path, commit), *roots = NULL;
    find_own(path, own);
    for (const char *p = log; !t.text && (p = next_commit(p, commit, email));) {
        if (!*newest)
            memcpy(newest, commit, sizeof newest);
        if (strcmp(email, own) != 0)
            t.text = text_at(path, commit);
    }
    if (!t.text)
        roots = git(path, "log", "--max-parents=0", "--format=%H %ae", NULL);
    for (const char *p = roots; !t.text && (p = next_commit(p, commit, email));)
        t.published |= (t.text = text_at(path, commit)) != NULL;
    if (!t.text && *newest)
        t.text = text_at(path, newest);
    free(roots);
    free(log);
    return t;
}

char *course_text_before(const char *path, const char *now)
{
    char email[EMAIL], commit[COMMIT], *text = NULL, *log = find_log(path, "HEAD");
    struct diff_place first;
    for (const char *p = log; !text && (p = next_commit(p, commit, email));) {
        text = text_at(path, commit);
        if (text && !text_diff(text, now, &first, 1)) {
            free(text);
            text = NULL;
        }
    }
    free(log);
    return text;
}
