// In place of watch_screen.c where there is no ncurses.
#include "screen.h"

bool screen_open(void)
{
    return false;
}

void screen_serve(struct session *s, const struct watch_begin *begin)
{
    (void)s;
    (void)begin;
}

void screen_close(void) {}
