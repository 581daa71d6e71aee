// What lab.c offers to the page, and to the test that compares the page's module with this machine.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef __EMSCRIPTEN__
#define LAB_CALL __attribute__((used))
#else
#define LAB_CALL
#endif

LAB_CALL const char *lab_error(void);
// A file that the tester reads: the kernel's PTX, and its source as the PTX names it.
LAB_CALL bool lab_write(const char *path, const char *text, size_t bytes);

// Runs the kernel of a PTX file under all checks: C = alpha * A * B + beta * C0, of type (enum dev_type). A JSON object
// with what the driver's --json has: "metrics", "lines", "findings", "verdict", "what", "look", "changed", where a
// wrong kernel differs from a file course.cu; and "C", a hash. Where the kernel cannot be run, "verdict" is "failed",
// and "error" says why.
LAB_CALL const char *lab_run(const char *ptx, int type, int m, int n, int k, double alpha, double beta);
// Runs another kernel, as launch.h says: "metrics", "lines", "findings", and "verdict": "ran", or "failed" and "error".
LAB_CALL const char *lab_launch(const char *ptx, const char *kernel, int number);
// What each element of the last run's C is (enum matrix_mark), row by row; NULL if all are right.
LAB_CALL const unsigned char *lab_map(void);

// A block of the last run, watched: watch/watch.h. A moment is a number, -1 is none. "steps", "warps", "findings" with
// their blocks, instructions and the moments at which they were found, and "sides", where two accesses have a part in
// one; "first", the number of the one to begin with, if any.
LAB_CALL const char *lab_watch(double block);
LAB_CALL double lab_watch_next(double from, int stop, bool back, int warp, int number);  // warp -1: any
// Which execution of its instruction by its warp a finding of this block is about, from 0; -1: it is not known.
LAB_CALL double lab_watch_execution(int finding);
LAB_CALL double lab_watch_line(double moment);      // of kernel.cu
LAB_CALL const char *lab_watch_at(double moment);   // watch_json
LAB_CALL const char *lab_watch_why(double moment);  // watch_why_json
// The moment at which a lane's register got its value; at which an instruction wrote the byte of shared memory.
LAB_CALL double lab_watch_made(double moment, int warp, int lane, const char *name);
LAB_CALL double lab_watch_wrote(double moment, int at);

// The check of an exercise on a PTX file, which was written with lab_write: "tests", each with "title", "state"
// ("passed", "failed" or "skipped"), "counts" (for the points) and "text". The points of an exercise. The stub or the
// solution that a marked source holds; NULL, with the reason in lab_error(), where its marks are not in order.
LAB_CALL const char *lab_check(const char *exercise, const char *ptx);
LAB_CALL int lab_points(int questions, int passed, int passed_by_stub);
LAB_CALL const char *lab_cut(const char *source, bool solution, const char *bug);

// A picture of the last run, run again for it: SVG text. view: enum simt_view; block: its linear index; instruction: -1
// for the nth; the rest as in struct simt_picture.
LAB_CALL const char *lab_draw(int view, int line, int nth, int instruction, int execution, int warp, double block,
                              bool global, bool large);
