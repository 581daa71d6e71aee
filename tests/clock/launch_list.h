// A list of kernel launches, for the programs that compare the clock with a GPU. A line is
//
//   NAME PTX KERNEL [--grid X,Y,Z] [--block X,Y,Z] [--shared BYTES] [ARG...]
//
// PTX is a file's name without its folder and .ptx; what follows is as on the command line of `simt profile`, words
// apart by blanks. Lines that begin with # are comments.
#pragma once

#include "base/device.h"
#include "simt/clock/clock.h"

#define LAUNCH_NAME 64

struct command;

struct launch_list {
    struct launch_item {
        char name[LAUNCH_NAME];
        char *line;  // what stands behind the name
    } * all;
    size_t n;
};

// False, with one line in error, if the file cannot be read or a line has no PTX or kernel.
bool launch_list_read(struct launch_list *l, const char *path, char error[DEV_ERROR_MAX]);
void launch_list_free(struct launch_list *l);

// What keeps a PTX file loaded as long as the next launches are of the same file.
struct launch_device;
struct launch_device *launch_device_open(enum dev_kind kind, char error[DEV_ERROR_MAX]);
void launch_device_close(struct launch_device *d);

// Predicts the launch on the card from the PTX files in folder. What its arrays hold makes no difference. As
// simt_predict.
struct simt_prediction *launch_predict(struct launch_device *simulated, const struct launch_item *item,
                                       const char *folder, const struct card *card, char error[DEV_ERROR_MAX]);

// Runs it on a GPU: 2 launches without a clock, then the median of 15, the L2 cache emptied before each, as the steps
// are timed. After a failure the GPU must be opened again.
bool launch_measure(struct launch_device *gpu, const struct launch_item *item, const char *folder, double *us,
                    char error[DEV_ERROR_MAX]);
