// See rooms.h.
#include "rooms.h"

#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 512, FILES = 1200, EDGES = 8000, DEPTH = 8, OBJECTS = 1000, SYMBOLS = 20000, NAME = 128 };

struct unit {
    char name[PATH];  // "simt/ptx/lex", from the root on
    int rank[DEPTH];  // the rooms it is in, outermost first, as their numbers; 0 ends it
    int state;        // of the search for cycles: 0 not seen, 1 on the way, 2 done
};

struct edge {  // a file needs another
    int from, to;
    char file[PATH];
    char why[2 * PATH];  // "includes simt/ptx/lex.h"
};

struct object {
    int unit;
    char file[PATH];  // its source
    char path[PATH];
};

struct symbol {
    int object;
    bool defined;  // there; else it is used
    char name[NAME];
};

static struct tree {
    char root[4096];
    struct unit units[FILES];
    struct edge edges[EDGES];
    int n_units, n_edges;
    char files[FILES][PATH];  // from the root on
    struct object objects[OBJECTS];
    struct symbol symbols[SYMBOLS];
    int n_files, n_objects, n_symbols;
    struct rooms_result *r;
} tree;

static bool begin(const char *root, struct rooms_result *r)
{
    memset(&tree, 0, sizeof tree);
    memset(r, 0, sizeof *r);
    tree.r = r;
    return realpath(root, tree.root);
}

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
    char path[4096 + 2 * PATH], text[8192], quoted[PATH + 2];
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
    char path[4096 + 2 * PATH], text[64];
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

static void add_edge(int from, int to, const char *file, const char *verb, const char *what, const char *of)
{
    if (tree.n_edges == EDGES)
        abort();
    struct edge *e = &tree.edges[tree.n_edges++];
    e->from = from;
    e->to = to;
    snprintf(e->file, sizeof e->file, "%s", file);
    snprintf(e->why, sizeof e->why, "%s %s%s%s", verb, what, *of ? " of " : "", of);
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
    const int from = unit_of(file);
    add_edge(from, unit_of(found), file, "includes", found, "");
    tree.r->includes++;
}

static void read_includes(const char *file)
{
    char path[4096 + PATH + 2], line[1024], what[PATH];
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
            snprintf(tree.r->said + n, sizeof tree.r->said - n, "%s %s; ", e->file, e->why);
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

// What is known of the tree so far goes against the order, or round?
static void judge(void)
{
    for (int i = 0; i < tree.n_edges; i++)
        if (goes_against(&tree.units[tree.edges[i].from], &tree.units[tree.edges[i].to]))
            say("%s %s, of a later room\n", tree.edges[i].file, tree.edges[i].why);
    for (int i = 0; i < tree.n_units; i++)
        if (!tree.units[i].state && find_cycle(i))
            break;
}

bool rooms_check(const char *root, struct rooms_result *r)
{
    if (!begin(root, r) || nftw(tree.root, visit, 8, FTW_PHYS) || !tree.n_files)
        return false;
    qsort(tree.files, (size_t)tree.n_files, sizeof *tree.files, by_name);
    for (int i = 0; i < tree.n_files; i++)
        read_includes(tree.files[i]);
    judge();
    check_rooms_of("");
    return true;
}

// --- Symbols ---

// The objects of files below the root that the build has made, by its list of commands.
static bool find_objects(const char *build)
{
    char path[4096 + PATH], line[32768], file[PATH] = "", source[4096], output[PATH];
    const size_t root = strlen(tree.root);
    snprintf(path, sizeof path, "%s/compile_commands.json", build);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        sscanf(line, " \"file\": \"%500[^\"]", file);
        if (sscanf(line, " \"output\": \"%500[^\"]", output) != 1)
            continue;
        snprintf(path, sizeof path, "%s%s%s", *file == '/' ? "" : build, *file == '/' ? "" : "/", file);
        const bool inside = realpath(path, source) && !strncmp(source, tree.root, root) && source[root] == '/';
        snprintf(path, sizeof path, "%s/%s", build, output);
        if (!inside || access(path, R_OK) || tree.n_objects == OBJECTS)
            continue;
        struct object *o = &tree.objects[tree.n_objects++];
        snprintf(o->file, sizeof o->file, "%.500s", source + root + 1);
        snprintf(o->path, sizeof o->path, "%s", output);
        o->unit = unit_of(o->file);
    }
    if (f)
        fclose(f);
    return tree.n_objects > 0;
}

static FILE *ask_nm(const char *build)
{
    const size_t room = 64 + strlen(build) + (size_t)tree.n_objects * (PATH + 3);
    char *command = malloc(room);
    FILE *f = NULL;
    if (command) {
        int n = snprintf(command, room, "cd '%s' && nm -A -P", build);
        for (int i = 0; i < tree.n_objects; i++)
            n += snprintf(command + n, room - (size_t)n, " '%s'", tree.objects[i].path);
        f = popen(command, "r");
    }
    free(command);
    return f;
}

static bool read_symbols(const char *build)
{
    char line[2 * PATH], path[PATH], name[NAME], type;
    int object = 0;
    FILE *f = ask_nm(build);
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%511[^:]: %127s %c", path, name, &type) != 3 || (type < 'A' || type > 'Z'))
            continue;  // a symbol of the file alone
        while (object < tree.n_objects && strcmp(tree.objects[object].path, path))
            object++;
        if (object == tree.n_objects || tree.n_symbols == SYMBOLS)
            abort();
        struct symbol *s = &tree.symbols[tree.n_symbols++];
        *s = (struct symbol){ .object = object, .defined = type != 'U' };
        snprintf(s->name, sizeof s->name, "%s", name);
    }
    return f && !pclose(f);
}

static int by_symbol(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : y->defined - x->defined;
}

static bool has_edge(int from, int to)
{
    for (int i = 0; i < tree.n_edges; i++)
        if (tree.edges[i].from == from && tree.edges[i].to == to)
            return true;
    return false;
}

// Each file that uses a symbol needs the one that defines it.
static void join_symbols(void)
{
    const struct symbol *defined = NULL;
    qsort(tree.symbols, (size_t)tree.n_symbols, sizeof *tree.symbols, by_symbol);
    for (int i = 0; i < tree.n_symbols; i++) {
        const struct symbol *s = &tree.symbols[i];
        defined = s->defined ? s : defined;
        if (s->defined || !defined || strcmp(defined->name, s->name))
            continue;
        const struct object *from = &tree.objects[s->object], *to = &tree.objects[defined->object];
        tree.r->symbols++;
        if (from->unit != to->unit && !has_edge(from->unit, to->unit))
            add_edge(from->unit, to->unit, from->file, "uses", s->name, to->file);
    }
}

bool rooms_check_symbols(const char *root, const char *build, struct rooms_result *r)
{
    if (!begin(root, r) || !find_objects(build) || !read_symbols(build))
        return false;
    r->files = (size_t)tree.n_objects;
    join_symbols();
    judge();
    return true;
}

// --- The door of a room ---

// "tests/clock/x.c" is a test of the room clock, which may know what is in it.
static bool is_own_test(const char *file, const char *room)
{
    char folder[PATH];
    const char *slash = strncmp(file, "tests/", 6) ? NULL : strchr(file + 6, '/');
    if (!slash)
        return false;
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - file - 6), file + 6);
    return room_number(room, folder);
}

static void check_file_at_door(const char *file, const char *room, const char *door)
{
    const char *name = strrchr(room, '/') + 1;
    char path[4096 + PATH + 2], line[1024], what[PATH], inside[PATH];
    snprintf(path, sizeof path, "%s/%s", tree.root, file);
    snprintf(inside, sizeof inside, "%s/", name);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, " # include \"%500[^\"]\"", what) != 1)
            continue;
        const char *at = strstr(what, inside);
        if (at && (at == what || at[-1] == '/') && strcmp(at + strlen(inside), door))
            say("%s includes %s: only %s%s is for others\n", file, what, inside, door);
        tree.r->includes++;
    }
    if (f)
        fclose(f);
}

bool rooms_check_door(const char *sources, const char *room, const char *door, struct rooms_result *r)
{
    static const char *const folders[] = { "common", "exercises", "slides", "steps", "tests" };
    if (!begin(sources, r))
        return false;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char path[4096 + 16];
        snprintf(path, sizeof path, "%s/%s", tree.root, folders[i]);
        if (!access(path, R_OK) && nftw(path, visit, 8, FTW_PHYS))
            return false;
    }
    const size_t n = strlen(room);
    for (int i = 0; i < tree.n_files; i++)
        if (strncmp(tree.files[i], room, n) || tree.files[i][n] != '/')
            if (!is_own_test(tree.files[i], room))
                check_file_at_door(tree.files[i], room, door);
    r->files = (size_t)tree.n_files;
    return tree.n_files;
}
