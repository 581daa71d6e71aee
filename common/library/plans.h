// Makes plans and runs them: see plan.h.
#pragma once

#include "handle.h"

// Makes a plan of that product, or finds it among the latest ones. NULL: the handle's error says why.
struct plan *plan_of(gemm_steps *h, const gemm_steps_problem *settled);

// Makes room for that way: it has the counters and the workspace that it needs. False, with the reason in dev_error.
bool plan_room(gemm_steps *h, const gemm_steps_problem *settled, const struct way *way);

// A plan of that way, for which there is room. False: the handle's error says why.
bool plan_open(gemm_steps *h, struct plan *plan, const gemm_steps_problem *settled, const struct way *way);

// Queues its launches. False: the device's error says why.
bool plan_queue(gemm_steps *h, struct plan *plan, float alpha, float beta);
