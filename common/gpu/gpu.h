// A CUDA GPU for a library that works for a program with a CUDA context and streams of its own. What gpu_borrow gives
// is a device as in base/device.h; of its functions all but dev_close must be called between gpu_enter and gpu_leave.
#pragma once

#include "base/device.h"

extern const struct backend gpu_backend;

enum { GPU_CURRENT = -1 };

// The device of that number, by its primary context; GPU_CURRENT: the context that is current in this thread, which
// must last as long as what is returned. Its work goes to the default stream. NULL, with one line in error, if there is
// no such device or context.
struct dev *gpu_borrow(int device, char error[DEV_ERROR_MAX]);

// Makes the device's context current in this thread, until gpu_leave: then the one from before is current again.
bool gpu_enter(struct dev *d);
void gpu_leave(struct dev *d);

// Queues all work to that stream (a CUstream; NULL: the default stream) from now on. gpu_mark remembers all that was
// queued until then, and gpu_wait_mark has the stream wait for it, if it was in another. While the stream is captured
// neither does anything: what was queued before is no part of the graph.
void gpu_set_stream(struct dev *d, void *stream);
bool gpu_mark(struct dev *d);
bool gpu_wait_mark(struct dev *d);

// Whether the stream is being captured into a graph. Then nothing can be loaded or allocated.
bool gpu_capturing(const struct dev *d);

void *gpu_stream(const struct dev *d);  // of any GPU: the one its work is queued to
