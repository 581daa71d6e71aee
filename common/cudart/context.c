// See context.h.
#include "context.h"

#include <stdlib.h>

#include "cudart.h"
#include "handle.h"

enum { STACK = 64 };

struct context_state context_state;

static _Thread_local const char *call;
static _Thread_local void *stack[STACK];
static _Thread_local unsigned depth;

const char *cudart_driver_call(void)
{
    return call;
}

void context_set_call(const char *name)
{
    call = name;
}

struct context *context_new(unsigned flags)
{
    struct context *c = calloc(1, sizeof *c);
    if (c && !(c->handle = handle_new(HANDLE_CONTEXT, c))) {
        free(c);
        return NULL;
    }
    if (c)
        c->flags = flags;
    return c;
}

void context_free(struct context *c)
{
    handle_drop(c->handle);
    free(c);
}

struct context *context_of(const void *handle)
{
    return handle_object(handle, HANDLE_CONTEXT);
}

struct context *context_primary(void)
{
    static struct context *always;
    if (!always)
        always = context_new(0);
    return always;
}

void *context_current(void)
{
    return depth ? stack[depth - 1] : NULL;
}

bool context_push(void *handle)
{
    if (depth == STACK)
        return false;
    stack[depth++] = handle;
    return true;
}

void context_pop(void)
{
    depth -= depth > 0;
}

// As the runtime does in a thread that has no context.
void cudart_use_context(void)
{
    if (call || depth)
        return;
    cudart_lock();
    context_state = (struct context_state){ true, true };
    if (context_primary())
        context_push(context_primary()->handle);
    cudart_unlock();
}
