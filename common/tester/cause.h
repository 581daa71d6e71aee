// Why a step's result is wrong: what a teacher would try, done by the driver.
//
// A product of a few tiles that shows the error runs under the checks of the simulated GPU. If they find nothing,
// products of special matrices (look.h) tell which elements met where, and others what became of alpha, beta and the
// last bits of the sums.
#pragma once

#include <stdbool.h>

#include "kernel_lines.h"
#include "step.h"

enum { CAUSE_TEXT = 800, CAUSE_LINES = TESTER_LINES };

struct cause {
    bool certain;           // elements follow a law that leaves no doubt
    int ahead;              // fragments are that many k ahead; 0: they are not
    const char *meaning;    // the mistake in a few words, where the finding does not tell it alone; NULL: it does
    char text[CAUSE_TEXT];  // one line; empty if none is known
    size_t seen;            // so much of the text is what the checks saw, and no guess
    bool says_where;        // the text behind `where` is only where to look
    size_t where;
    struct kernel_lines lines;   // of the kernel: those that a run executed
    bool ran;                    // there was one
    bool boxes;                  // C is stored in boxes, by TMA
    bool staged;                 // shared memory has room for two tiles of A and B, or more
    unsigned look[CAUSE_LINES];  // lines of it to look at, the likeliest first; 0: no more
};

// o: the run that was wrong, settled. It is looked into on the simulated GPU, whichever device it was on: there the
// checks are, and a kernel that fails does no harm. On a GPU it is tried there as well if the simulated one tells
// nothing; after a kernel that fails the GPU takes no more work, so do this last.
void cause_find(struct cause *c, const struct step *step, const struct geometry *g, const struct tester_options *o,
                bool simulated);

// What led to an error on the simulated GPU: one that ended the step's launch, or that the checks have found in it
// (checked). found: the others beside it, or NULL. Empty if there is no more to say than the finding says.
void cause_of_error(struct cause *c, const struct step *step, const struct geometry *g, const struct tester_options *o,
                    bool checked, const struct simt_finding *f, const struct simt_findings *found);
// The last tile, which begins with this row and column, is wrong, as tiles with smaller numbers are not.
void cause_of_far(struct cause *c, const struct step *step, const struct geometry *g, int row, int col);
// The most telling one; there is one at least.
const struct simt_finding *cause_first_finding(const struct simt_findings *found);

// --- For the parts of it ---

struct probe;
struct look;
// cause_say.c
void cause_say(struct cause *c, const char *format, ...) __attribute__((format(printf, 2, 3)));  // appends
void cause_say_sentence(struct cause *c, const char *begin);  // ends the sentence before, and begins another
bool cause_add_line(struct cause *c, unsigned line);          // to look at; whether it is a new one
// Appends "; look at kernel.cu:38 and kernel.cu:51", by roles up to LINE_ROLES; nothing where no line is known.
void cause_look_at(struct cause *c, const enum line_role *roles);
void cause_look_at_most(struct cause *c, const enum line_role *roles, int most);  // that many new lines

void cause_drop_look(struct cause *c);  // takes such words away again

void cause_look_first(struct cause *c, const unsigned *lines, unsigned n);  // before those that are known

void cause_look_at_line(struct cause *c, unsigned line);  // the same, a line of the kernel's file

struct simt_kernel;
const struct simt_kernel *cause_kernel(const struct probe *p);

struct simt_finding_place;
// The line of the place in the kernel's own file; 0: none.
unsigned cause_own_line(const struct cause *c, const struct simt_finding_place *p);

// The nearest line that makes what the index of a shared or global matrix on this line has, and is no loop; 0: none.
unsigned cause_index_line(const struct cause *c, unsigned line);

// The lines of the kernel, those that the last run executed.
void cause_read_lines(struct cause *c, const struct probe *p);

extern const enum line_role CAUSE_NO_LINES[];

void cause_say_where(struct cause *c);  // what is said from here on is only where to look

// cause_history.c: what came before a wait, an arrival, bytes of a phase, or a read of shared memory.
struct history;
void cause_of_history(struct cause *c, const struct history *h, const struct simt_finding *f);
// cause_finding.c: what led to it, on a probe of the same geometry.
void cause_of_finding(struct cause *c, struct probe *p, const struct tester_options *o, bool checked,
                      const struct simt_finding *f, const struct simt_findings *found);
// cause_wait.c: a race whose store goes to the stage that is read, so that the other is read unwritten.
void cause_of_stage(struct cause *c, const struct probe *p, const struct simt_finding *race,
                    const struct simt_finding *unwritten);
// Which wait or barrier does not do, or where one is missing.
void cause_of_wait(struct cause *c, const struct probe *p, const struct simt_finding *f);
// cause_origin.c: what may be behind the lines that it names.
void cause_of_origin(struct cause *c);
// Where the function is called that this line is in, if one of the calls stands behind a condition: that may leave it
// out. False: it is no such.
bool cause_say_calls(struct cause *c, unsigned line);
// The loops around the first line to look at, those that are not among these lines.
void cause_say_loops(struct cause *c);
// cause_place.c: which elements met in the wrong place. False: all is in its place, or nothing can be said.
bool cause_of_place(struct cause *c, struct probe *p, struct look *l);
// cause_say.c: whether the geometry has fewer threads a block than the kernel's launch bounds: then it is said.
bool cause_of_threads(struct cause *c, const struct probe *p);
// cause_unwritten.c: which elements of C were never written.
bool cause_of_unwritten(struct cause *c, struct probe *p, const struct look *l);
// cause_stores.c: whether a thread stores each element of C more than once.
bool cause_of_stored_again(struct cause *c, struct probe *p, int m, int n, int k);
// cause_count.c: which products are missing, or were added more than once.
bool cause_of_counts(struct cause *c, struct probe *p, const struct look *l);
// cause_flow.c: how far the rows or columns of a matrix come, in a block where C is wrong; to be freed in any case.
struct flow;
bool cause_flow(struct flow *f, const struct cause *c, struct probe *p, const struct look *l, char matrix,
                bool columns);
// Where one of them is lost, which does not come to the products.
struct geometry;
void cause_say_lost(struct cause *c, const struct flow *f, const struct geometry *g, char matrix, bool columns,
                    int place);
// cause_move.c: the same if the elements of one matrix ('A', 'B' or 'C') are in the wrong place and the others are not.
// at: the lines to look at; NULL: those that take the elements there.
bool cause_of_moves(struct cause *c, struct probe *p, const struct look *l, char matrix, const enum line_role *at);
// cause_value.c: what became of alpha, of beta and of the last bits.
bool cause_of_value(struct cause *c, struct probe *p, int m, int n, int k);
