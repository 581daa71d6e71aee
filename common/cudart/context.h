// The contexts of the driver's API, and the function of it that is running.
#pragma once

#include <stdbool.h>

struct context {
    void *handle;
    unsigned flags;
};

struct context *context_new(unsigned flags);  // NULL if memory runs out
void context_free(struct context *c);
struct context *context_of(const void *handle);  // NULL: it is none
struct context *context_primary(void);           // of the device, made when it is first asked for

// The current ones of this thread are a stack.
void *context_current(void);  // NULL: none
bool context_push(void *handle);
void context_pop(void);

struct context_state {
    bool ready;   // cuInit was called, or the runtime was used
    bool active;  // the primary context
};
extern struct context_state context_state;

void context_set_call(const char *name);  // cudart_driver_call's
