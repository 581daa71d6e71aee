// A small kernel, loaded from PTX text and watched.
#pragma once

#include "simt/simt.h"
#include "watch/watch.h"

#define WATCH_HEAD ".version 8.6\n.target sm_90a\n.address_size 64\n"

extern const char watch_case_text[];  // two warps, which add, store and read; see watch_case.c

struct watch_case {
    struct simt *simt;
    struct simt_kernel *kernel;
    struct watch *watch;
    uint64_t out;
    struct dev_arg args[1];
    struct dev_launch launch;
    char error[DEV_ERROR_MAX];
};

// Watches block 0 of kernel k of the text, which takes the address of an array out of a word a thread; blocks of
// `threads`, with checks. Fails the test if that cannot be done.
void watch_case_open(struct watch_case *c, const char *ptx, unsigned threads);
void watch_case_close(struct watch_case *c);

// The value that a warp's register has in a lane at a moment. Fails the test if it has none.
uint64_t watch_case_value(struct watch_case *c, uint64_t moment, uint32_t warp, uint32_t lane, const char *name);
