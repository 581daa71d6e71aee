// The watch on the whole screen, through a pseudo-terminal: what it shows at first, after keys and after typed
// commands, and that it gives the terminal back. SIMT is the program. Each look is a screen that was drawn afresh
// (Ctrl-L).
#include <criterion/criterion.h>

#include <poll.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program_case.h"
#include "watch_case.h"

TestSuite(screen, .fini = forget_scratch, .timeout = 60);

enum { ROWS = 30, COLUMNS = 120, QUIET = 200, PATIENCE = 20000, REDRAW = 'L' - '@', ROOM = 1 << 17 };

#define CLEAR "\x1b[J"  // vt100's, with which each whole drawing begins

struct terminal {
    pid_t pid;
    int fd, status;
    char sent[ROOM];                // by the program since the last key
    char shown[ROWS][COLUMNS + 1];  // what that leaves on the screen
};

static void start(struct terminal *t, const char *ptx, const char *type)
{
    struct winsize size = { .ws_row = ROWS, .ws_col = COLUMNS };
    const char *path = scratch(ptx, strlen(ptx));
    t->pid = forkpty(&t->fd, NULL, NULL, &size);
    cr_assert_geq(t->pid, 0);
    if (t->pid == 0) {
        setenv("TERM", type, 1);
        execl(SIMT, SIMT, "watch", path, "k", "--block", "64", "out=u32[64]=zeros", (char *)NULL);
        _exit(127);
    }
}

// Reads until the text has come, and then until nothing more comes.
static void receive(struct terminal *t, const char *until)
{
    struct pollfd ready = { .fd = t->fd, .events = POLLIN };
    size_t n = 0;
    *t->sent = '\0';
    while (n < ROOM - 1 && poll(&ready, 1, strstr(t->sent, until) ? QUIET : PATIENCE) > 0) {
        const ssize_t more = read(t->fd, t->sent + n, ROOM - 1 - n);
        if (more <= 0)
            break;
        n += (size_t)more;
        t->sent[n] = '\0';
    }
}

struct cursor {
    int row, col;
};

// What stands behind ESC [ and ends with a letter: H places the cursor, A to D move it, J clears, the others change how
// letters look. Returns how many characters that are.
static size_t control(struct terminal *t, const char *at, struct cursor *c)
{
    int first = 0, second = 0;
    const size_t digits = strspn(at, "0123456789;?");
    const int n = sscanf(at, "%d;%d", &first, &second), by = n > 0 ? first : 1;
    switch (at[digits]) {
    case 'A':
        c->row -= by;
        break;
    case 'B':
        c->row += by;
        break;
    case 'C':
        c->col += by;
        break;
    case 'D':
        c->col -= by;
        break;
    case 'H':
        *c = (struct cursor){ n > 0 ? first - 1 : 0, n > 1 ? second - 1 : 0 };
        break;
    case 'J':
        memset(t->shown, ' ', sizeof t->shown);
        break;
    default:
        break;
    }
    return digits + 1;
}

static void letter(struct terminal *t, char which, struct cursor *c)
{
    c->row += c->col == COLUMNS;  // it goes on in the next line
    c->col %= COLUMNS;
    if (c->row >= 0 && c->row < ROWS && c->col >= 0)
        t->shown[c->row][c->col++] = which;
}

// What a vt100 shows of what was sent.
static void play(struct terminal *t)
{
    struct cursor c = { 0, 0 };
    memset(t->shown, ' ', sizeof t->shown);
    for (const char *at = t->sent; *at; at++) {
        if (at[0] == '\x1b' && at[1] == '[')
            at += 1 + control(t, at + 2, &c);
        else if (at[0] == '\x1b')
            at += strchr("()", at[1]) ? 2 : 1;
        else if (*at == '\r')
            c.col = 0;
        else if (*at == '\n')
            c.row++;
        else if (*at == '\b')
            c.col--;
        else if (*at >= ' ')
            letter(t, *at, &c);
    }
    for (int row = 0; row < ROWS; row++)
        t->shown[row][COLUMNS] = '\0';
}

static void press(struct terminal *t, const char *keys)
{
    char all[COLUMNS];
    const int n = snprintf(all, sizeof all, "%s%c", keys, REDRAW);
    cr_assert_eq(write(t->fd, all, (size_t)n), n);
    receive(t, CLEAR);
    play(t);
}

static void expect(const struct terminal *t, const char *part)
{
    char all[sizeof t->shown + 1] = "";
    for (int row = 0; row < ROWS; row++) {
        if (strstr(t->shown[row], part))
            return;
        strcat(strcat(all, t->shown[row]), "\n");
    }
    cr_expect(false, "%s\nis not on the screen:\n%s", part, all);
}

static void end(struct terminal *t, const char *keys)
{
    cr_assert_eq(write(t->fd, keys, strlen(keys)), (ssize_t)strlen(keys));
    receive(t, "no more");
    cr_assert_eq(waitpid(t->pid, &t->status, 0), t->pid);
    cr_expect(WIFEXITED(t->status) && WEXITSTATUS(t->status) == 0);
    close(t->fd);
}

Test(screen, shows_the_step_and_the_pane_and_obeys_keys)
{
    static struct terminal t;
    start(&t, watch_case_text, "vt100");
    receive(&t, CLEAR);
    press(&t, "");
    expect(&t, "k, block 0, step 0 of 64, warp 0 of 2");
    expect(&t, "mov.u32 %r1, %tid.x");
    expect(&t, "warp 0, all lanes: instruction 1");
    expect(&t, "1 warps 2 barriers 3 registers");
    press(&t, "sss");
    expect(&t, "step 3 of 64: warp 0, its step 3, all lanes");
    press(&t, "S");
    expect(&t, "step 2 of 64: warp 0, its step 2, all lanes");
    press(&t, "b2");
    expect(&t, "bar.sync 0");
    expect(&t, "barrier 0: 32 threads have come of all that have not ended");
    press(&t, "3");
    expect(&t, "warp 0, lane 0, last written first");
    expect(&t, "%r3 0");
    press(&t, "n");
    expect(&t, "warp 1, lane 0, last written first");
    end(&t, "q");
}

Test(screen, takes_typed_commands)
{
    static struct terminal t;
    start(&t, watch_case_text, "vt100");
    receive(&t, CLEAR);
    press(&t, ":end\n");
    expect(&t, "step 58 of 64: warp 0, its step 31, all lanes");
    press(&t, ":print s[8] u32 16\n");
    expect(&t, "print s[8] u32 16");
    expect(&t, "byte 64 of s, u32: 3 3 3 3 3 3 3 3");
    press(&t, ":nonsense\n");
    expect(&t, "there is no command 'nonsense'");
    press(&t, "1<");
    expect(&t, "step 0 of 64: warp 0, its step 0, all lanes");
    end(&t, "q");
}

// A terminal that cannot place the cursor has the line mode.
Test(screen, leaves_a_poor_terminal_to_the_line_mode)
{
    static struct terminal t;
    start(&t, watch_case_text, "dumb");
    receive(&t, "watch> ");
    cr_expect(strstr(t.sent, "watch> "), "%s", t.sent);
    end(&t, "quit\n");
}
