// The view of the whole screen, by ncurses; without it screen_open returns false.
#pragma once

#include "session.h"

bool screen_open(void);  // false: the terminal cannot show it
// Until the user leaves: the source, the step, and a pane below them that shows what a command shows.
void screen_serve(struct session *s, const struct watch_begin *begin);
void screen_close(void);
