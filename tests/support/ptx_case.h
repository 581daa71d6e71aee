// Runs PTX on every device that is present, through common/base/device.h: the built-in simulated GPU always, a real GPU
// where one answers. Expectations come from plain C; the real GPU is the judge of them.
//
//   ptx_devices                 the devices to test on
//   ptx_cases_check             many single instructions, each on some thousand operands, against a function in C
//   ptx_run                     one whole module, for control flow and memory
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/device.h"

#define PTX_DEVICES 2
#define PTX_COUNTOF(array) (sizeof(array) / sizeof *(array))
#define PTX_SM_90 ".version 8.2\n.target sm_90\n.address_size 64\n"
#define PTX_HEAD ".version 7.0\n.target sm_75\n.address_size 64\n"

// Opens every device that is present; returns how many. The caller closes them.
size_t ptx_devices(struct dev *out[PTX_DEVICES]);
// The same, but a GPU only if its architecture is at least sm (80: RTX 30 and newer); for exact, that one alone.
size_t ptx_devices_from(struct dev *out[PTX_DEVICES], int sm, bool exact);
struct dev *ptx_simulator(void);

// --- single instructions ---

// The value that an instruction must give. a, b, c: its operands, as wide as the registers and zero above; bits: the
// width that the case states. What is returned above the destination's width is ignored. A result that PTX leaves to
// the machine goes through ptx_open() or ptx_some_nan().
typedef uint64_t ptx_want(uint64_t a, uint64_t b, uint64_t c, unsigned bits);

uint64_t ptx_open(uint64_t value);  // the simulated GPU gives value; what a GPU gives instead is noted, not an error
uint64_t ptx_some_nan(void);        // any NaN as wide as the destination

struct ptx_case {
    const char *text;  // in terms of %d, %a, %b, %c; scratch: %p %q (pred), %h0-%h3 (b16), %r0-%r3 (b32), %l0-%l3 (b64)
    ptx_want *want;
    unsigned bits;        // told to want
    unsigned d, a, b, c;  // widths of the registers: 16, 32 or 64; 0 where there is none. %d is 0 before
};

// Where operand values are taken from, besides random ones.
// Counts are shift amounts and positions. 32 bits of f16s or bf16s are pairs.
enum ptx_pool { PTX_INTS, PTX_F32S, PTX_F64S, PTX_F16S, PTX_BF16S, PTX_COUNTS };

struct ptx_operands {
    enum ptx_pool a, b, c;
    bool sm_90;  // the cases need sm_90 and PTX 8.2; a GPU that is older is left out
};

// An approximation: the simulated GPU gives value; a GPU may be off by relative * |value| + absolute, in each half of a
// pair. format says what kind of numbers they are.
uint64_t ptx_near(uint64_t value, enum ptx_pool format, double relative, double absolute);

// Runs every case on all pairs of the pools' edge values and on seeded random ones, on every device.
void ptx_cases_check(const struct ptx_case *cases, size_t n, struct ptx_operands from);

// A test of such cases: its suite, its name, where operands come from, and the rows.
#define PTX_TEST(suite, name, from, ...)                                                                               \
    Test(suite, name)                                                                                                  \
    {                                                                                                                  \
        static const struct ptx_case cases[] = { __VA_ARGS__ };                                                        \
        ptx_cases_check(cases, PTX_COUNTOF(cases), from);                                                              \
    }
#define PTX_FROM(...) ((struct ptx_operands){ __VA_ARGS__ })

// --- values ---

int64_t ptx_sign(uint64_t value, unsigned bits);  // value's low bits as a signed integer
float ptx_float(uint64_t bits);
double ptx_double(uint64_t bits);
uint64_t ptx_of_float(float x);    // NaN: 0x7fffffff
uint64_t ptx_of_double(double x);  // NaN: ptx_some_nan()
double ptx_value(uint64_t bits, enum ptx_pool format);
double ptx_lesser(double a, double b);  // the number where one side is NaN; -0 counts as less than +0
// x as an f16 or bf16; mode is 'n' (to nearest even), 'z', 'm' or 'p'. NaN: 0x7fff
uint64_t ptx_of_half(double x, enum ptx_pool format, char mode);

// --- whole modules ---

struct ptx_shape {
    unsigned blocks, threads;
    size_t shared;  // bytes of dynamic shared memory
};

// Loads text and runs its kernel k (.param .u64 out, .param .u64 in), where out and in are buffers of words that
// messages call "out" and "in"; in may be NULL, then the kernel takes out alone. out is uploaded before and
// downloaded after. False, with the reason in dev_error, if any step fails.
bool ptx_run(struct dev *d, const char *text, struct ptx_shape shape, uint32_t *out, size_t n_out, const uint32_t *in,
             size_t n_in);

// The same with a kernel of a PTX file, by its name; in is not NULL.
bool ptx_file_run(struct dev *d, const char *file, const char *name, struct ptx_shape shape, uint32_t *out,
                  size_t n_out, const uint32_t *in, size_t n_in);

// Runs a kernel of a PTX file on every device from sm_80 on. Each must give want(i) in out[i], for n words of in and
// out.
void ptx_file_expect(const char *file, const char *name, struct ptx_shape shape, const uint32_t *in, size_t n,
                     uint32_t (*want)(uint32_t i));
