// What the files of the lab share: the launch that was run last, ready to be run again.
#pragma once

#include "base/json.h"
#include "simt/simt.h"

struct lab_call {
    struct simt *simt;
    struct simt_kernel *kernel;
    const struct dev_launch *launch;
};

// Until the next run, in device memory as a run finds it. False, with the reason in lab_error(), if there is none.
bool lab_call(struct lab_call *out);
char *lab_error_room(void);  // DEV_ERROR_MAX bytes, which lab_error() returns

// One JSON object, as the text that the page reads.
FILE *lab_text_begin(struct json *j);
const char *lab_text_end(struct json *j, FILE *out);

bool lab_watching(void);  // a watch is open: it owns device memory
void lab_watch_close(void);
