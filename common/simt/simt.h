// The simulated GPU as a library: the one header through which everything else uses it.
//
// Interface:
//   simt_open .. simt_close         a simulated GPU, and its settings
//   simt_alloc, simt_write, ...     its memory, addressed by 64-bit device addresses
//   simt_load, simt_kernel, ...     PTX text -> module -> kernel; what a module, a kernel and an instruction are
//   simt_launch                     runs a kernel to its end
//   simt_watch                      the same, with a call after each instruction of a warp: look, then go on or stop
//   simt_profile, simt_findings     what the last launch left: its counters, and what the checks found
//   simt_draw, simt_draw_fragment   pictures, as SVG text
//   simt_predict                    how long a launch takes on a card
//   cost_..., fragment_...          the machine's own rules, without a program: machine/cost.h, machine/fragment_list.h
//
// A function that can fail returns false or NULL and writes one line to error. Nothing here exits, and only what is
// called ..._print prints, to the stream that it is given. A struct simt belongs to one thread at a time; several of
// them may be open. Outside of common/simt nothing includes any other header of it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/launch.h"
#include "base/occupancy.h"
#include "base/profile.h"
#include "simt/findings.h"
#include "simt/machine/cost.h"
#include "simt/machine/fragment_list.h"

struct simt;
struct simt_module;
struct simt_kernel;
struct simt_saved;
struct json;

// --- a simulated GPU ---

#define SIMT_JOBS_MAX 256  // host threads
#define SIMT_DEVICE "simulated GPU"
#define SIMT_BUDGET (1ull << 30)  // warp instructions of a block, unless simt_set_budget says otherwise

struct simt_limits {
    uint64_t memory;          // bytes of device memory that can be allocated in all
    size_t shared_per_block;  // bytes of shared memory that a block may have, opt-in included
    unsigned max_threads;     // threads that a block may have
    const char *isa;          // for which instructions of the host its executor was compiled: "AVX2 and FMA"
};

struct simt *simt_open(void);     // NULL when memory runs out
void simt_close(struct simt *s);  // frees all that it holds, modules included; NULL is allowed
struct simt_limits simt_limits(const struct simt *s);

// Host threads over which a launch's blocks are spread: at most SIMT_JOBS_MAX; 0: one a processor. Nothing that a
// launch leaves depends on it.
void simt_set_jobs(struct simt *s, unsigned jobs);
void simt_set_budget(struct simt *s, uint64_t warp_instructions);  // 0: SIMT_BUDGET
void simt_set_output(struct simt *s, FILE *out);                   // where kernels print; NULL: stdout
void simt_set_tensor_cores(struct simt *s, unsigned sm);  // whose: 90, or 80 for any before; from the next simt_load on
void simt_set_progress(struct simt *s, dev_progress *show);  // NULL: none
// With checks on, a kernel's errors are findings and its launch succeeds; otherwise the first error fails the launch.
void simt_set_checks(struct simt *s, bool on);

// --- its memory ---

// bytes (> 0), aligned to 256; name is what findings call it. With checks on, each byte is DEV_UNWRITTEN at first.
bool simt_alloc(struct simt *s, const char *name, size_t bytes, uint64_t *address, char error[DEV_ERROR_MAX]);
// The same at an address of at most 47 bits, which the host's process can have, too: those that simt_keep_low keeps,
// before anything is allocated. Variables of modules then have such addresses, too.
bool simt_keep_low(struct simt *s);
bool simt_alloc_low(struct simt *s, const char *name, size_t bytes, uint64_t *address, char error[DEV_ERROR_MAX]);
bool simt_free(struct simt *s, uint64_t address, char error[DEV_ERROR_MAX]);  // an address that simt_alloc gave
// What begins at address, an allocation or a variable, lies in data from now on: memory of the caller's own, with as
// many bytes, which lives at least as long. What it held is lost. The caller reads and writes it as he likes, so the
// checks take all of it as written. False if nothing begins there.
bool simt_lend(struct simt *s, uint64_t address, void *data);
// Gives the allocation that begins at address a new size in bytes, which may be 0: what is added at its end is as new
// as that of simt_alloc, and the rest is kept. It must not be lent.
bool simt_resize(struct simt *s, uint64_t address, size_t bytes, char error[DEV_ERROR_MAX]);
bool simt_write(struct simt *s, uint64_t to, const void *from, size_t bytes, char error[DEV_ERROR_MAX]);
bool simt_read(struct simt *s, void *to, uint64_t from, size_t bytes, char error[DEV_ERROR_MAX]);
bool simt_clear(struct simt *s, uint64_t at, size_t bytes, char error[DEV_ERROR_MAX]);  // to 0
// All of it as it is now, to be put back later, so that a launch finds it as it was. Allocations that are made or freed
// in between stay so. NULL when memory runs out.
struct simt_saved *simt_save(const struct simt *s);
void simt_restore(struct simt *s, const struct simt_saved *saved);
void simt_saved_free(struct simt_saved *saved);  // NULL is allowed
// What a kernel takes as a CUtensorMap. Fails if the rules of base/launch.h are broken.
bool simt_tensor_map(const struct dev_tensor *tensor, struct dev_tensor_map *map, char error[DEV_ERROR_MAX]);

// --- modules ---

// Loads PTX; name is what messages call it. A kernel that cannot run is kept with its error, and the others can run.
// NULL if the text is not PTX at all.
struct simt_module *simt_load(struct simt *s, const char *name, const char *text, size_t bytes,
                              char error[DEV_ERROR_MAX]);
void simt_unload(struct simt *s, struct simt_module *m);  // its kernels go with it

struct simt_module_about {
    const char *file;  // its name
    char version[16];  // "9.0"
    char target[64];   // "sm_90a"
    uint32_t kernels;
};
struct simt_module_about simt_module_about(const struct simt_module *m);

#define SIMT_LIST_MAX 512
#define SIMT_NAME_MAX 512

struct simt_kernel *simt_kernel_at(struct simt_module *m, uint32_t i);     // in the file's order; NULL after the last
struct simt_kernel *simt_kernel(struct simt_module *m, const char *name);  // by its name in the PTX, or NULL
// The kernel that name means, as people write it: "add" for _Z3addPKfPfi. Fails if none or several do, or name is NULL;
// the line names the kernels that there are.
struct simt_kernel *simt_kernel_search(struct simt_module *m, const char *name, char error[DEV_ERROR_MAX]);
void simt_kernel_list(const struct simt_module *m, char list[SIMT_LIST_MAX]);  // the first ones, separated by ", "
// The name in the source of a name in the PTX: "add(float const*, float*, int)". False if it is the same.
bool simt_source_name(const char *name, char source[SIMT_NAME_MAX]);

enum simt_number { SIMT_BITS, SIMT_INTEGER, SIMT_FLOAT };  // bits: either

struct simt_type {
    const char *name;  // "u64"; of an aggregate, that of its elements
    enum simt_number number;
    uint32_t bytes;  // of one
};

struct simt_parameter {
    struct simt_type type;
    bool scalar;  // one number, and no struct or array
    uint64_t bytes;
    uint32_t align, at;  // bytes; where it begins among the parameters
};

struct simt_variable {  // __constant__ or __device__
    char name[SIMT_NAME_MAX];
    struct simt_type type;
    bool scalar, constant;
    uint64_t bytes, address;
    const unsigned char *initial;  // its first initial_bytes, NULL: none; the rest is zero
    uint32_t initial_bytes;
    uint32_t n_pointers;  // addresses among its initial values
};

struct simt_kernel_about {
    const char *name;        // in the PTX
    const char *error;       // NULL, or why it cannot run: "file:line:column: ..."
    const char *reason;      // the same without its place
    bool read;               // its instructions are known, even if it cannot run
    uint32_t max_threads;    // of its launch bounds; 0: none
    uint32_t shared, local;  // bytes: static shared memory of a block, local memory of a thread
    uint32_t parameters, instructions;
    const char *dynamic;  // its extern __shared__ array, whose bytes the launch gives; NULL: none
};
struct simt_kernel_about simt_kernel_about(const struct simt_kernel *k);
void simt_kernel_caret(const struct simt_kernel *k, char *out, size_t size);  // the text at its error, and a caret

bool simt_parameter(const struct simt_kernel *k, uint32_t i, struct simt_parameter *out);  // false after the last
bool simt_variable_at(const struct simt_module *m, uint32_t i, struct simt_variable *out);
bool simt_variable_search(struct simt_module *m, const char *name, struct simt_variable *out,
                          char error[DEV_ERROR_MAX]);                  // as simt_kernel_search
bool simt_kernel_uses(const struct simt_kernel *k, uint64_t address);  // of a variable: does the kernel name it?

// The values of an array of integers that a PTX text declares in .const or .global, without loading it: *used bytes in
// out, which has room for as many. BAD: it is no such array, or larger.
enum simt_constant { SIMT_CONSTANT_NONE, SIMT_CONSTANT_BAD, SIMT_CONSTANT_FOUND };
enum simt_constant simt_text_constant(const char *text, size_t text_bytes, const char *name, unsigned char *out,
                                      size_t room, size_t *used);

struct simt_instruction {  // of the PTX, with the functions that it calls in place of the calls
    const char *text;      // behind its guard and up to its semicolon, text_bytes long
    const char *op;        // "ld.global.f32", op_bytes long
    uint32_t text_bytes, op_bytes;
    unsigned ptx_line;
    uint32_t target;  // the instruction that it branches to, if that is one; else SIMT_NO_INSTRUCTION
    uint32_t guard;   // the register of its guard, or SIMT_NO_REGISTER
    bool unless;      // the guard is negated: @!%p1
};
#define SIMT_NO_INSTRUCTION UINT32_MAX
#define SIMT_NO_REGISTER UINT32_MAX

struct simt_place {
    const char *file;  // as the .file directive names it
    unsigned line;
};

bool simt_instruction(const struct simt_kernel *k, uint32_t i, struct simt_instruction *out);  // false after the last
// Where instruction i stands in the source: place 0 is its own line, place 1 the call of the function that it was
// inlined from, and so on. False after the last.
bool simt_instruction_place(const struct simt_kernel *k, uint32_t i, uint32_t place, struct simt_place *out);

struct simt_register {
    char name[SIMT_NAME_MAX];
    struct simt_type type;
};
bool simt_register(const struct simt_kernel *k, uint32_t i, struct simt_register *out);  // false after the last
int64_t simt_register_number(const struct simt_kernel *k, const char *name);             // -1: there is none

// --- launches ---

// Runs the kernel to its end. Fails for a launch that cannot be made, a kernel that cannot run and, without checks, one
// that makes an error.
bool simt_launch(struct simt *s, struct simt_kernel *k, const struct dev_launch *launch, char error[DEV_ERROR_MAX]);
// The host waits for all launches. A launch has ended when simt_launch returns; but for the checks one that is early
// (base/launch.h) may run beside those that came before it, as far back as the last simt_sync, simt_read or simt_write.
void simt_sync(struct simt *s);
// The error that ended the last launch, which has failed by it; NULL: there was none. Valid as simt_findings.
const struct simt_finding *simt_failure(const struct simt *s);

// Counters of the last launch that ended, and what its checks found; NULL if there was none, or if checks were off.
// Valid until the next launch or simt_close.
const struct profile *simt_profile(const struct simt *s);
const struct simt_findings *simt_findings(const struct simt *s);

// --- stop, look, go on ---
//
// A launch is deterministic: to go back, watch it once more and stop earlier.

enum simt_event {
    SIMT_STEP,   // the warp has executed an instruction
    SIMT_ERROR,  // the kernel has made an error, in any warp of the block, and ends here
};

struct simt_look;  // what there is to see at this moment; valid during the call

#define SIMT_ALL_WARPS UINT32_MAX

struct simt_watch {
    uint64_t block;  // linear index
    uint32_t warp;   // of the block, or SIMT_ALL_WARPS
    // Called after each instruction of the warp. False: stop here, which ends the launch.
    bool (*tell)(void *context, enum simt_event event, const struct simt_look *look);
    void *context;
};

// As simt_launch, on one host thread. True also if tell stopped it: then there is no profile, and there are no
// findings.
bool simt_watch(struct simt *s, struct simt_kernel *k, const struct dev_launch *launch, const struct simt_watch *w,
                char error[DEV_ERROR_MAX]);

// The instruction just executed.
uint32_t simt_look_warp(const struct simt_look *l);
uint64_t simt_look_step(const struct simt_look *l);         // how many this warp executed before, split or not
uint32_t simt_look_instruction(const struct simt_look *l);  // for simt_instruction
uint32_t simt_look_lanes(const struct simt_look *l);        // a bit for each lane that executed it

enum simt_role { SIMT_READ, SIMT_WRITTEN, SIMT_ADDRESS };

// Operand i of the instruction, in the text's order, its guard last: a register, or an address. False after the last.
struct simt_operand {
    enum simt_role role;
    const char *name;  // in the text, name_bytes long: "%f12"; of an address what stands between its brackets
    uint32_t name_bytes;
    struct simt_type type;  // of an address: that of the register that holds it
    const uint64_t *value;  // by lane: as it is now if it is written, else as it was before
    uint32_t bytes;         // of an address: that a lane loads or stores there, if that is known; else 0
    uint32_t number;        // of the register, for simt_register; SIMT_NO_REGISTER: an address without one
};
bool simt_look_operand(const struct simt_look *l, uint32_t i, struct simt_operand *out);
// The byte of the block's own shared memory that a lane's address means. False if it means none.
bool simt_look_shared_at(const struct simt_look *l, const struct simt_operand *address, uint32_t lane, uint32_t *at);

// A register of the warp by its name, as it is now. False for a name that there is not, and where the value is not
// needed any more: the simulated GPU may have put another one in its place.
bool simt_look_register(const struct simt_look *l, const char *name, uint64_t value[32]);
// The same of any warp of the block, and by the register's number.
bool simt_look_value(const struct simt_look *l, uint32_t warp, uint32_t number, uint64_t value[32]);

// Memory as it is now. Shared memory is that of the block, from byte 0 on.
bool simt_look_shared(const struct simt_look *l, uint32_t at, void *to, uint32_t bytes);
uint32_t simt_look_shared_bytes(const struct simt_look *l);
// Has anything written the byte of shared memory, and which thread and instruction was the last? Only with checks on.
bool simt_look_writer(const struct simt_look *l, uint32_t at, uint32_t *thread, uint32_t *instruction);
struct simt_shared_variable {
    const char *name;
    uint32_t at, bytes;
};
bool simt_look_shared_variable(const struct simt_look *l, uint32_t i, struct simt_shared_variable *out);
bool simt_look_memory(const struct simt_look *l, uint64_t address, void *to, uint32_t bytes);  // device memory

// Where the lanes of a warp of the block stand: group i of those that stand together. False after the last.
enum simt_standing {
    SIMT_RUNS,
    SIMT_AT_BARRIER,  // of the block: barrier says which
    SIMT_AT_CLUSTER_BARRIER,
    SIMT_AWAITS_LANES  // of its own warp
};
struct simt_lanes {
    uint32_t lanes, next;  // next: the instruction that they execute next, or wait at
    enum simt_standing standing;
    uint32_t barrier;
};
uint32_t simt_look_warps(const struct simt_look *l);
bool simt_look_standing(const struct simt_look *l, uint32_t warp, uint32_t i, struct simt_lanes *out);
uint32_t simt_look_ended(const struct simt_look *l, uint32_t warp);  // lanes that have ended

struct simt_barrier {
    uint32_t arrived, expected;  // threads; expected 0: all that have not ended
};
bool simt_look_barrier(const struct simt_look *l, uint32_t i, struct simt_barrier *out);  // 0 to 15

// An mbarrier at that byte of shared memory. False if none was initialised there.
struct simt_phase {
    uint32_t parity;    // of the phase in hand
    uint32_t expected;  // arrivals
    uint32_t pending;   // of these that have not come
    int64_t bytes;      // that have not come; negative: more have come than were expected
};
bool simt_look_mbarrier(const struct simt_look *l, uint32_t at, struct simt_phase *out);
// The mbarrier whose phase the warp found incomplete when it looked last; false: it does not wait for one.
bool simt_look_wait(const struct simt_look *l, uint32_t warp, uint32_t *at, uint32_t *parity, uint32_t *lane);

// Bulk copies (TMA) under way, in the order in which they were asked for. False after the last.
struct simt_copy {
    uint32_t thread, instruction;  // that asked for it
    uint32_t at, bytes;            // in shared memory
    bool comes;                    // to shared memory, and reports to the mbarrier at this byte:
    uint32_t mbarrier;
};
bool simt_look_copy(const struct simt_look *l, uint32_t i, struct simt_copy *out);
// What a thread has open of cp.async (copies) and of bulk copies from shared memory (bulk): groups that it has
// committed and not waited for, empty ones among them, and copies that are in no group yet. False if there is no such
// thread.
struct simt_groups {
    uint32_t copies, loose_copies, bulk, loose_bulk;
};
bool simt_look_groups(const struct simt_look *l, uint32_t warp, uint32_t lane, struct simt_groups *out);
// The products of wgmma that a warp has issued, and whose results are not in its registers yet.
uint32_t simt_look_products(const struct simt_look *l, uint32_t warp);
uint64_t simt_look_found(const struct simt_look *l);  // how many findings the checks have so far, in any block

// --- pictures ---

enum simt_view {
    SIMT_DRAW_ACCESS,    // the banks or sectors of one access
    SIMT_DRAW_TILES,     // which elements of the result, or of an array, a block, a warp and a lane store
    SIMT_DRAW_WALK,      // which parts of the factors of a product a block reads
    SIMT_DRAW_TIMELINE,  // what each warp of a block does between barriers
    SIMT_DRAW_BITS       // which bits of a row and a column make which bits of an address in shared memory
};

struct simt_matrix {  // in device memory, row-major, without gaps
    const char *name;
    uint64_t address, rows, columns;
    uint32_t bytes;  // of an element
};

struct simt_product {
    struct simt_matrix left, right, result;
};

struct simt_picture {
    enum simt_view view;
    const char *file;  // of the source; NULL: the one in which the kernel itself is
    size_t file_length;
    unsigned line;  // ACCESS, BITS: of the instruction, or of the call where a function was inlined
    uint64_t nth;   // of the line's instructions that the warp executes, from 0
    bool exact;     // ACCESS: that instruction of the line, in place of the nth
    uint32_t instruction;
    uint64_t execution;  // ACCESS: which of its executions by the warp, from 0
    uint64_t warp;       // within the block
    uint64_t block[3];
    bool global;                         // accesses to global memory also where the line has some to shared memory
    bool large;                          // for slides: large type, fewer rows
    const struct simt_product *product;  // which the kernel computes, for WALK and BITS. TILES: NULL shows an array
};

// Runs the kernel and draws. The SVG's text, which the caller frees.
char *simt_draw(struct simt *s, struct simt_kernel *k, const struct dev_launch *launch, const struct simt_picture *what,
                char error[DEV_ERROR_MAX]);

struct simt_fragment {
    const char *operand;  // a, b or c
    const char *shape;    // m16n8k16, ..., or wmma for m16n16k16; NULL: m16n8k16
    const char *type;     // of the elements; NULL: f16, of c f32
    bool large;           // for slides: large type, a cell for each register, no rows of ldmatrix
};
char *simt_draw_fragment(const struct simt_fragment *what, char error[DEV_ERROR_MAX]);

// --- time on a card ---

struct simt_array {  // what an array in device memory holds at first: branches and addresses may follow from it
    uint64_t address, bytes;
    const unsigned char *data;
};

struct simt_timing {
    const char *ptx;     // the file
    const char *kernel;  // its name in the PTX
    const struct dev_launch *launch;
    const struct simt_array *arrays;
    size_t n_arrays;
};

struct simt_prediction;

bool simt_can_predict(char error[DEV_ERROR_MAX]);  // false if there is no ptxas
// Compiles the kernel for the card with ptxas, and follows its machine code. Nothing is computed.
struct simt_prediction *simt_predict(const struct simt_timing *t, const struct card *card, char error[DEV_ERROR_MAX]);
void simt_prediction_free(struct simt_prediction *p);  // NULL is allowed
// Another launch runs before p's in the stream: its time is added to p's.
void simt_prediction_after(struct simt_prediction *p, const struct simt_prediction *first);

double simt_predicted_cycles(const struct simt_prediction *p);      // of an SM, from its first block to its last
double simt_predicted_ms(const struct simt_prediction *p);          // at the card's rate, launches included
const char *simt_predicted_bound(const struct simt_prediction *p);  // what bounds it, one sentence
void simt_prediction_print(FILE *out, const struct simt_prediction *p, bool by_line);
void simt_prediction_json(struct json *j, const struct simt_prediction *p);  // keys of the open object

// What the machine code of a whole launch executes, under Nsight Compute's terms; for small launches.
struct simt_counts {
    uint64_t instructions, thread_instructions;  // smsp__inst_executed.sum, smsp__thread_inst_executed_pred_on.sum
    uint64_t unknown_branches;                   // that depend on data: the counts are a guess then
};
bool simt_count(const struct simt_timing *t, const struct card *card, struct simt_counts *out,
                char error[DEV_ERROR_MAX]);

struct simt_cycles {
    uint64_t from, to;  // cycles of an SM; 0, 0: as many trips of the kernel's loop as asked for
    uint64_t trips;     // 0: two
    bool outer;         // of the outermost loop
    bool large;         // for slides
    bool some_warps;    // only first_warp .. last_warp
    uint64_t first_warp, last_warp;
};
#define SIMT_CYCLES_MOST 100000
// The timeline of an SM, cycle by cycle, as SVG text, which the caller frees.
char *simt_draw_cycles(const struct simt_timing *t, const struct card *card, const struct simt_cycles *what,
                       char error[DEV_ERROR_MAX]);
