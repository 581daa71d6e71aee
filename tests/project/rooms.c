// See rooms.h.
#include "rooms.h"

#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = 512, FILES = 600, EDGES = 8000, DEPTH = 8, ROOMS = 24 };

struct unit {
    char name[PATH];  // "simt/ptx/lex", from the root on
    int rank[DEPTH];  // the rooms it is in, outermost first, as their numbers; 0 ends it
    int state;        // of the search for cycles: 0 not seen, 1 on the way, 2 done
};

struct edge {
    int from, to;
    char file[PATH];
    char what[2 * PATH];
};

static struct tree {
    char root[PATH];
    struct unit units[FILES];
    struct edge edges[EDGES];
    int n_units, n_edges;
    char files[FILES][PATH];  // from the root on
    int n_files;
    struct rooms_result *r;
} tree;

static void say(const char *format, ...)
{
    struct rooms_result *r = tree.r;
    const size_t n = strlen(r->said);
    va_list args;
    va_start(args, format);
    vsnprintf(r->said + n, sizeof r->said - n, format, args);
    va_end(args);
    r->wrong++;
}

// --- The order ---

static bool read_text(const char *path, char *text, size_t room)
{
    FILE *f = fopen(path, "r");
    if (!f)
        return false;
    const size_t n = fread(text, 1, room - 1, f);
    text[n] = '\0';
    fclose(f);
    return true;
}

// The number of the room in the folder (from the root on, "" for the root itself) by its meson.build, from 1; 0: none.
static int room_number(const char *folder, const char *room)
{
    char path[3 * PATH], text[8192], quoted[PATH + 2];
    snprintf(path, sizeof path, "%s/%s/meson.build", tree.root, folder);
    char *list = read_text(path, text, sizeof text) ? strstr(text, "foreach room : [") : NULL;
    char *end = list ? strchr(list, ']') : NULL;
    if (!end)
        return 0;
    *end = '\0';
    snprintf(quoted, sizeof quoted, "'%s'", room);
    char *at = strstr(list, quoted);
    int number = at != NULL;
    for (char *p = list; at && (p = strchr(p, ',')) && p < at; p++)
        number++;
    return number;
}

// A room says in the first line of its meson.build what it is for.
static void check_head(const char *folder)
{
    char path[3 * PATH], text[64];
    snprintf(path, sizeof path, "%s/%s/meson.build", tree.root, folder);
    if (!read_text(path, text, sizeof text) || strncmp(text, "# ", 2))
        say("%s: its meson.build does not begin with a comment that says what the room is for\n", folder);
}

static void set_rank(struct unit *u)
{
    char folder[PATH] = "", name[PATH];
    const char *p = u->name;
    for (int depth = 0; depth + 1 < DEPTH; depth++) {
        const char *slash = strchr(p, '/');
        if (!slash)
            return;
        snprintf(name, sizeof name, "%.*s", (int)(slash - p), p);
        if (!(u->rank[depth] = room_number(folder, name)))
            return;
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - u->name), u->name);
        p = slash + 1;
    }
}

static bool goes_against(const struct unit *from, const struct unit *to)
{
    for (int i = 0; i < DEPTH; i++)
        if (from->rank[i] != to->rank[i])
            return from->rank[i] && to->rank[i] > from->rank[i];
    return false;
}

// --- Files and includes ---

static int unit_of(const char *file)
{
    char name[PATH];
    snprintf(name, sizeof name, "%s", file);
    *strrchr(name, '.') = '\0';
    for (int i = 0; i < tree.n_units; i++)
        if (!strcmp(tree.units[i].name, name))
            return i;
    if (tree.n_units == FILES)
        abort();
    struct unit *u = &tree.units[tree.n_units];
    *u = (struct unit){ 0 };
    snprintf(u->name, sizeof u->name, "%s", name);
    set_rank(u);
    return tree.n_units++;
}

static int visit(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    const char *end = strrchr(path, '.');
    (void)info;
    (void)walk;
    if (type == FTW_F && end &&
        (!strcmp(end, ".c") || !strcmp(end, ".h") || !strcmp(end, ".def") || !strcmp(end, ".cuh"))) {
        if (tree.n_files == FILES)
            return 1;
        snprintf(tree.files[tree.n_files++], PATH, "%s", path + strlen(tree.root) + 1);
    }
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

static bool is_file(const char *name)
{
    return bsearch(name, tree.files, (size_t)tree.n_files, sizeof *tree.files, by_name) != NULL;
}

// Notes an include if it is a file of the tree: beside the one that includes it, or from the root on.
static void note_include(const char *file, const char *what)
{
    char beside[PATH];
    const char *slash = strrchr(file, '/');
    snprintf(beside, sizeof beside, "%.*s%.200s", slash ? (int)(slash - file) + 1 : 0, file, what);
    const char *found = is_file(beside) ? beside : is_file(what) ? what : NULL;
    if (!found) {
        say("%s includes \"%s\", which is neither beside it nor below the root\n", file, what);
        return;
    }
    if (tree.n_edges == EDGES)
        abort();
    struct edge *e = &tree.edges[tree.n_edges++];
    e->from = unit_of(file);
    e->to = unit_of(found);
    snprintf(e->file, sizeof e->file, "%s", file);
    snprintf(e->what, sizeof e->what, "%s", found);
    tree.r->includes++;
}

static void read_includes(const char *file)
{
    char path[2 * PATH + 2], line[1024], what[PATH];
    snprintf(path, sizeof path, "%s/%s", tree.root, file);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, " # include \"%500[^\"]\"", what) == 1)
            note_include(file, what);
    if (f)
        fclose(f);
    tree.r->files++;
}

// --- Cycles ---

static bool find_cycle(int unit)
{
    struct unit *u = &tree.units[unit];
    u->state = 1;
    for (int i = 0; i < tree.n_edges; i++) {
        const struct edge *e = &tree.edges[i];
        if (e->from != unit || e->to == unit)
            continue;
        const int state = tree.units[e->to].state;
        if (state == 1)
            say("a cycle: ");
        if (state == 1 || (!state && find_cycle(e->to))) {
            const size_t n = strlen(tree.r->said);
            snprintf(tree.r->said + n, sizeof tree.r->said - n, "%s includes %s; ", e->file, e->what);
            return true;
        }
    }
    u->state = 2;
    return false;
}

static void check_rooms_of(const char *folder)
{
    char seen[PATH] = "", name[PATH];
    for (int i = 0; i < tree.n_files; i++) {
        const size_t n = strlen(folder);
        const char *rest = tree.files[i] + n + (n > 0);
        const char *slash = strncmp(tree.files[i], folder, n) ? NULL : strchr(rest, '/');
        if (!slash)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(slash - tree.files[i]), tree.files[i]);
        if (!strcmp(name, seen) || !room_number(folder, name + n + (n > 0)))
            continue;
        snprintf(seen, sizeof seen, "%s", name);
        check_head(name);
        check_rooms_of(name);
    }
}

bool rooms_check(const char *root, struct rooms_result *r)
{
    memset(&tree, 0, sizeof tree);
    memset(r, 0, sizeof *r);
    tree.r = r;
    snprintf(tree.root, sizeof tree.root, "%s", root);
    if (nftw(root, visit, 8, FTW_PHYS) || !tree.n_files)
        return false;
    qsort(tree.files, (size_t)tree.n_files, sizeof *tree.files, by_name);
    for (int i = 0; i < tree.n_files; i++)
        read_includes(tree.files[i]);
    for (int i = 0; i < tree.n_edges; i++)
        if (goes_against(&tree.units[tree.edges[i].from], &tree.units[tree.edges[i].to]))
            say("%s includes %s, of a later room\n", tree.edges[i].file, tree.edges[i].what);
    for (int i = 0; i < tree.n_units; i++)
        if (!tree.units[i].state && find_cycle(i))
            break;
    check_rooms_of("");
    return true;
}
