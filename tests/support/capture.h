// What a function of this process writes to stdout and stderr.
#ifndef TESTS_CAPTURE_H
#define TESTS_CAPTURE_H

struct output {
    int status;
    char out[16384], err[4096];
};

// From begin to end both go to files; end returns what they have, with status 0.
void capture_begin(void);
struct output *capture_end(void);

#endif
