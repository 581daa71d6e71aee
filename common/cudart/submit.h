// Streams and events as objects, and the way that work takes: every stream does it at once, unless it is captured.
#pragma once

#include "node.h"

struct stream {
    unsigned flags;
    int priority;
    unsigned long long id;
    struct graph *graph;  // that it is captured into; NULL: it is not
    bool begins;          // the capture began here
    bool broken;          // the program did what it must not do in a capture
    enum cudaStreamCaptureMode mode;
    const void *thread;   // that began the capture
    struct nodes last;    // of that graph: what comes next depends on them
    struct stream *next;  // of those that there are
};

struct event {
    double ms;  // cudart_time when it was recorded
    bool recorded, untimed, shared;
    struct graph *graph;  // it was recorded in a capture
    struct nodes last;
};

struct stream *stream_new(cudaStream_t *handle);  // NULL if memory runs out
void stream_free(struct stream *s, cudaStream_t handle);
struct stream *stream_of(cudaStream_t handle);   // those that are always there, too; NULL: it is none
struct event *event_of(cudaEvent_t handle);      // NULL: it is none
void stream_end_capture(const struct graph *g);  // in all streams
bool stream_break_captures(void);                // false: there are none
bool stream_joined(const struct stream *first);  // what other streams of its capture did, it has waited for
void stream_mode(struct stream *s, enum cudaStreamCaptureMode mode);  // a capture begins in it

cudaError_t work_submit(cudaStream_t s, const struct work *w);
void work_call_host(cudaHostFn_t f, void *user);  // a function that must not call CUDA
