// What a function of this process writes to stdout and stderr.
#pragma once

struct output {
    int status;
    char out[16384], err[4096];
};

// From begin to end both go to files; end returns what they have, with status 0.
void capture_begin(void);
struct output *capture_end(void);
