// What a program holds for a stream, an event, a graph and the like: a small cell that leads to the object, so that one
// that was destroyed, or never was, is known as such and nothing crashes.
#pragma once

enum handle_kind {
    HANDLE_NONE,
    HANDLE_STREAM,
    HANDLE_EVENT,
    HANDLE_GRAPH,
    HANDLE_NODE,
    HANDLE_EXEC,
    HANDLE_POOL,
    HANDLE_CONTEXT,
    HANDLE_MODULE,
    HANDLE_PHYSICAL,
    HANDLE_ARRAY
};

void *handle_new(enum handle_kind kind, void *object);           // NULL if memory runs out
void *handle_object(const void *handle, enum handle_kind kind);  // NULL: it is none of that kind
void handle_drop(void *handle);
