// The watch on the whole screen, by ncurses: the source and the step above, and below them a pane, which shows what one
// command of the line mode shows and shows it again after each motion. Keys are commands, too; any other is typed
// behind a colon.
#include <inttypes.h>
#include <locale.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>

#include "base/source.h"
#include "screen.h"

enum { WIDE = 110, BARS = 4, SOURCE = 200, REDRAW = 'L' - '@' };  // BARS: title, pane's title, keys, prompt

struct screen {
    struct session *session;
    char *step, *pane;            // what the last motion showed, and the pane's command
    char command[SESSION_LINE];   // of the pane
    int scroll;                   // lines of the pane that are above it
    char error[DEV_ERROR_MAX];    // of the last command
    char why_not[DEV_ERROR_MAX];  // the pane shows nothing
};

static const struct key {
    int key;
    const char *command;
} keys[] = {
    { 's', "step" },    { KEY_RIGHT, "step" },   { 'S', "back" },      { KEY_LEFT, "back" },
    { 'l', "line" },    { KEY_DOWN, "line" },    { 'L', "back line" }, { KEY_UP, "back line" },
    { 'b', "barrier" }, { 'B', "back barrier" }, { '<', "start" },     { '>', "end" },
    { '1', "warps" },   { '2', "barriers" },     { '3', "registers" }, { '4', "print 0 f32 512" },
    { '5', "matrix" },  { '6', "copies" },       { '7', "why" },       { '8', "findings" },
    { '?', "help" },
};
static const char motions[] = "s S step and back  l L line  b B barrier  < > ends  n p warp  : command  q quit";
static const char panes[] = "1 warps 2 barriers 3 registers 4 shared 5 matrices 6 copies 7 why 8 findings ?";

// --- commands ---

// What the command shows; empty if it fails, with the reason in error. The caller frees it; NULL when memory runs out.
static char *shown(struct screen *c, const char *command, char *error)
{
    char *text = NULL;
    size_t bytes;
    struct session *s = c->session;
    s->out = open_memstream(&text, &bytes);
    s->error = error;
    *error = '\0';
    const bool ok = s->out && session_obey(s, command);
    if (s->out)
        fclose(s->out);
    if (text && !ok)
        *text = '\0';
    return text;
}

static void show_pane(struct screen *c)
{
    free(c->pane);
    c->pane = shown(c, c->command, c->why_not);
}

// A motion shows the step anew; what anything else shows is the pane's.
static void obey(struct screen *c, const char *command)
{
    const struct session before = *c->session;
    char *text = shown(c, command, c->error);
    const struct session *now = c->session;
    if (before.at != now->at || before.watch != now->watch || before.warp != now->warp) {
        free(c->step);
        c->step = text;
    } else if (text && *text) {
        snprintf(c->command, sizeof c->command, "%s", command);
        c->scroll = 0;
        free(text);
    } else {
        free(text);
    }
    show_pane(c);
}

static void obey_warp(struct screen *c, int by)
{
    char command[SESSION_LINE];
    const struct session *s = c->session;
    const uint32_t n = watch_warps(s->watch), now = watch_step(s->watch, s->at).warp;
    snprintf(command, sizeof command, "warp %u", (now + n + (uint32_t)by) % n);
    obey(c, command);
}

// --- drawing ---

static void put_line(int y, int x, int width, const char *text, size_t bytes)
{
    for (int i = 0, at = 0; i < (int)bytes && at < width; i++, at++)
        mvaddnstr(y, x + at, text[i] == '\t' ? " " : &text[i], 1);
}

static void put_text(int y, int x, int height, int width, const char *text, int skip)
{
    for (const char *at = text ? text : ""; *at && height > 0;) {
        const size_t n = strcspn(at, "\n");
        if (skip-- <= 0) {
            put_line(y++, x, width, at, n);
            height--;
        }
        at += n + (at[n] == '\n');
    }
}

static void put_bar(int y, const char *text)
{
    attron(A_REVERSE);
    mvhline(y, 0, ' ', COLS);
    put_line(y, 0, COLS, text, strlen(text));
    attroff(A_REVERSE);
}

static void put_source(const struct session *s, int y, int height, int width)
{
    char source[SOURCE], text[SOURCE + 20];
    const unsigned here = watch_step(s->watch, s->at).line, half = (unsigned)height / 2;
    const unsigned first = here > half ? here - half : 1;
    for (int i = 0; here && i < height; i++) {
        const unsigned line = first + (unsigned)i;
        source_text(watch_file(s->watch), line, source, sizeof source);
        snprintf(text, sizeof text, "%c %4u  %s", line == here ? '>' : ' ', line, source);
        if (line == here)
            attron(A_BOLD);
        put_line(y + i, 0, width, text, strlen(text));
        attroff(A_BOLD);
    }
}

static void draw(const struct screen *c)
{
    const struct session *s = c->session;
    const int above = (LINES - BARS) / 2, below = LINES - BARS - above;
    const bool wide = COLS >= WIDE;
    const int source = wide ? above : above / 2, left = wide ? COLS / 2 : COLS;
    char title[2 * SESSION_LINE];
    erase();
    snprintf(title, sizeof title, "%s, block %" PRIu64 ", step %" PRIu64 " of %" PRIu64 ", warp %u of %u%s",
             simt_kernel_about(s->kernel).name, watch_block(s->watch), s->at, watch_steps(s->watch),
             watch_step(s->watch, s->at).warp, watch_warps(s->watch),
             s->warp == SIMT_ALL_WARPS ? " (steps of all)" : "");
    put_bar(0, title);
    put_source(s, 1, source, wide ? left - 1 : left);
    put_text(wide ? 1 : 1 + source, wide ? left : 0, wide ? above : above - source, COLS - (wide ? left : 0), c->step,
             0);
    put_bar(1 + above, c->command);
    put_text(2 + above, 0, below, COLS, *c->why_not ? c->why_not : c->pane, c->scroll);
    put_bar(LINES - 2, motions);
    put_text(LINES - 1, 0, 1, COLS, *c->error ? c->error : panes, 0);
    refresh();
}

// --- keys ---

static void type_command(struct screen *c)
{
    char line[SESSION_LINE] = "";
    mvhline(LINES - 1, 0, ' ', COLS);
    mvaddstr(LINES - 1, 0, ": ");
    echo();
    curs_set(1);
    getnstr(line, sizeof line - 1);
    curs_set(0);
    noecho();
    obey(c, line);
}

static void press(struct screen *c, int key)
{
    const int page = (LINES - BARS) / 2;
    if (key == 'q' || key == ERR)
        c->session->done = true;
    else if (key == ':')
        type_command(c);
    else if (key == 'n' || key == 'p')
        obey_warp(c, key == 'n' ? 1 : -1);
    else if (key == KEY_NPAGE)
        c->scroll += page;
    else if (key == KEY_PPAGE)
        c->scroll = c->scroll > page ? c->scroll - page : 0;
    else if (key == REDRAW)
        clearok(curscr, true);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].key == key)
            obey(c, keys[i].command);
}

static SCREEN *screen;

bool screen_open(void)
{
    setlocale(LC_CTYPE, "");
    if (!(screen = newterm(NULL, stdout, stdin)))
        return false;
    const char *const place = tigetstr("cup");  // NULL or -1: it cannot place its cursor
    if (!place || place == (const char *)-1) {
        screen_close();
        return false;
    }
    cbreak();
    noecho();
    keypad(stdscr, true);
    curs_set(0);
    return true;
}

void screen_serve(struct session *s, const struct watch_begin *begin)
{
    struct screen c = { .session = s };
    char *error = s->error;
    size_t bytes;
    s->out = open_memstream(&c.step, &bytes);
    if (s->out) {
        session_begin(s, begin);
        fclose(s->out);
    }
    snprintf(c.command, sizeof c.command, "%s", s->stuck ? "why" : "warps");
    show_pane(&c);
    while (!s->done) {
        draw(&c);
        press(&c, getch());
    }
    s->error = error;
    free(c.step);
    free(c.pane);
}

void screen_close(void)
{
    endwin();
    delscreen(screen);
    screen = NULL;
}
