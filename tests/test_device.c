// The interface of common/device.h, on every device that is present: each test runs once on the simulated GPU and once
// on a real one; without a real one that half is skipped. Expected values are worked out in plain C.
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "device.h"
#include "profile.h"

#define COUNTOF(array) (sizeof(array) / sizeof *(array))

static enum dev_kind kinds[] = { DEV_SIM, DEV_GPU };

static struct dev *open_or_skip(enum dev_kind kind)
{
    char error[DEV_ERROR_MAX] = "";
    struct dev *d = dev_open(kind, error);
    if (!d && kind == DEV_GPU)
        cr_skip_test("%s", error);
    cr_assert_not_null(d, "the simulated GPU does not open: %s", error);
    cr_assert_eq(dev_about(d)->simulated, kind == DEV_SIM, "%s", dev_about(d)->name);
    return d;
}

#define DEVICE_TEST(sentence)                                                                                          \
    static void sentence(struct dev *d);                                                                               \
    ParameterizedTestParameters(device, sentence)                                                                      \
    {                                                                                                                  \
        return cr_make_param_array(enum dev_kind, kinds, COUNTOF(kinds));                                              \
    }                                                                                                                  \
    ParameterizedTest(enum dev_kind *kind, device, sentence, .timeout = 120)                                           \
    {                                                                                                                  \
        struct dev *d = open_or_skip(*kind);                                                                           \
        sentence(d);                                                                                                   \
        dev_close(d);                                                                                                  \
    }                                                                                                                  \
    static void sentence(struct dev *d)

#define OK(call) cr_assert(call, "%s: %s: %s", dev_about(d)->name, #call, dev_error(d))

// --- kernels ---

#define HEAD ".version 7.0\n.target sm_75\n.address_size 64\n"
#define INDEX "mov.u32 %r0, %ctaid.x;\n mov.u32 %r1, %ntid.x;\n mov.u32 %r2, %tid.x;\n mad.lo.u32 %r0, %r0, %r1, %r2;\n"
#define REGS "{\n .reg .pred %p;\n .reg .b16 %h;\n .reg .b32 %r<8>;\n .reg .b64 %x<5>;\n .reg .f64 %d;\n"

// twice: out[i] = 2 * in[i] for i < n. add: data[i] += what for i < n. spin: n steps of a random generator.
static const char text[] = HEAD
    ".visible .entry twice(.param .u64 out, .param .u64 in, .param .u32 n)\n" REGS INDEX
    " ld.param.u32 %r3, [n];\n setp.ge.u32 %p, %r0, %r3;\n @%p ret;\n"
    " ld.param.u64 %x0, [in];\n cvta.to.global.u64 %x0, %x0;\n mad.wide.u32 %x1, %r0, 4, %x0;\n"
    " ld.param.u64 %x2, [out];\n cvta.to.global.u64 %x2, %x2;\n mad.wide.u32 %x3, %r0, 4, %x2;\n"
    " ld.global.u32 %r4, [%x1];\n shl.b32 %r4, %r4, 1;\n st.global.u32 [%x3], %r4;\n ret;\n}\n"
    ".visible .entry add(.param .u64 data, .param .u32 n, .param .u32 what)\n" REGS INDEX
    " ld.param.u32 %r3, [n];\n setp.ge.u32 %p, %r0, %r3;\n @%p ret;\n"
    " ld.param.u64 %x0, [data];\n cvta.to.global.u64 %x0, %x0;\n mad.wide.u32 %x1, %r0, 4, %x0;\n"
    " ld.param.u32 %r5, [what];\n ld.global.u32 %r4, [%x1];\n add.u32 %r4, %r4, %r5;\n st.global.u32 [%x1], %r4;\n"
    " ret;\n}\n"
    ".visible .entry spin(.param .u64 out, .param .u32 n)\n" REGS
    " ld.param.u32 %r0, [n];\n mov.u32 %r1, 1;\n"
    "again:\n mad.lo.u32 %r1, %r1, 1664525, %r0;\n sub.u32 %r0, %r0, 1;\n setp.ne.u32 %p, %r0, 0;\n @%p bra again;\n"
    " ld.param.u64 %x0, [out];\n cvta.to.global.u64 %x0, %x0;\n st.global.u32 [%x0], %r1;\n ret;\n}\n"
    // pack: out = a + b + c + d + e, whose sizes leave gaps in the parameter space
    ".visible .entry pack(.param .u8 a, .param .u64 b, .param .u16 c, .param .f64 d, .param .u32 e, .param .u64 out)\n"
    REGS " ld.param.u8 %h, [a];\n cvt.u64.u16 %x0, %h;\n ld.param.u64 %x1, [b];\n add.u64 %x0, %x0, %x1;\n"
    " ld.param.u16 %h, [c];\n cvt.u64.u16 %x1, %h;\n add.u64 %x0, %x0, %x1;\n"
    " ld.param.f64 %d, [d];\n cvt.rzi.u64.f64 %x1, %d;\n add.u64 %x0, %x0, %x1;\n"
    " ld.param.u32 %r0, [e];\n cvt.u64.u32 %x1, %r0;\n add.u64 %x0, %x0, %x1;\n"
    " ld.param.u64 %x2, [out];\n cvta.to.global.u64 %x2, %x2;\n st.global.u64 [%x2], %x0;\n ret;\n}\n"
    // place: one word a thread; blocks in x, y, z order, in them threads in x, y, z order: the word is its number + 1
    ".visible .entry place(.param .u64 out)\n" REGS
    " mov.u32 %r0, %ctaid.z;\n mov.u32 %r1, %nctaid.y;\n mov.u32 %r2, %ctaid.y;\n mad.lo.u32 %r0, %r0, %r1, %r2;\n"
    " mov.u32 %r1, %nctaid.x;\n mov.u32 %r2, %ctaid.x;\n mad.lo.u32 %r0, %r0, %r1, %r2;\n"
    " mov.u32 %r1, %ntid.z;\n mov.u32 %r2, %tid.z;\n mad.lo.u32 %r0, %r0, %r1, %r2;\n"
    " mov.u32 %r1, %ntid.y;\n mov.u32 %r2, %tid.y;\n mad.lo.u32 %r0, %r0, %r1, %r2;\n"
    " mov.u32 %r1, %ntid.x;\n mov.u32 %r2, %tid.x;\n mad.lo.u32 %r0, %r0, %r1, %r2;\n"
    " ld.param.u64 %x0, [out];\n cvta.to.global.u64 %x0, %x0;\n mad.wide.u32 %x1, %r0, 4, %x0;\n"
    " add.u32 %r0, %r0, 1;\n st.global.u32 [%x1], %r0;\n ret;\n}\n"
    ".visible .entry narrow()\n.maxntid 64, 1, 1\n{\n ret;\n}\n"
    ".visible .entry stray(.param .u64 p)\n" REGS
    " ld.param.u64 %x0, [p];\n mov.u32 %r0, 1;\n st.global.u32 [%x0], %r0;\n ret;\n}\n"
    ".extern .shared .align 16 .b8 pool[];\n"
    // reach: the word at byte `at` of dynamic shared memory becomes 77, goes through a barrier and to out
    ".visible .entry reach(.param .u64 out, .param .u32 at)\n" REGS
    " ld.param.u32 %r0, [at];\n mov.u32 %r1, pool;\n add.u32 %r0, %r0, %r1;\n mov.u32 %r2, 77;\n"
    " st.shared.u32 [%r0], %r2;\n bar.sync 0;\n ld.shared.u32 %r3, [%r0];\n"
    " ld.param.u64 %x0, [out];\n cvta.to.global.u64 %x0, %x0;\n st.global.u32 [%x0], %r3;\n ret;\n}\n"
    // both: 1024 bytes of its own besides the dynamic ones
    ".visible .entry both(.param .u64 out)\n" REGS " .shared .align 4 .b8 own[1024];\n"
    " mov.u32 %r0, own;\n mov.u32 %r1, 5;\n st.shared.u32 [%r0+1020], %r1;\n mov.u32 %r2, pool;\n"
    " st.shared.u32 [%r2], %r1;\n ld.shared.u32 %r3, [%r0+1020];\n ld.param.u64 %x0, [out];\n"
    " cvta.to.global.u64 %x0, %x0;\n st.global.u32 [%x0], %r3;\n ret;\n}\n";

static struct dev_module *load(struct dev *d)
{
    struct dev_module *m = dev_load_text(d, "kernels.ptx", text, sizeof text - 1);
    cr_assert_not_null(m, "%s: %s", dev_about(d)->name, dev_error(d));
    return m;
}

static struct dev_kernel *kernel(struct dev *d, struct dev_module *m, const char *name)
{
    struct dev_kernel *k = dev_kernel(d, m, name);
    cr_assert_not_null(k, "%s: %s", dev_about(d)->name, dev_error(d));
    return k;
}

static dev_ptr alloc(struct dev *d, const char *name, size_t bytes)
{
    dev_ptr p = 0;
    OK(dev_alloc(d, name, bytes, &p));
    cr_assert_neq(p, 0, "%s: %s is at address 0", dev_about(d)->name, name);
    return p;
}

static uint32_t word_at(struct dev *d, dev_ptr p)
{
    uint32_t word = 0;
    OK(dev_download(d, &word, p, sizeof word));
    return word;
}

struct shape {
    unsigned grid[3], block[3];
    size_t shared;
};

#define SHAPE(...) ((struct shape){ __VA_ARGS__ })
#define ARGS(...) (const struct dev_arg[]){ __VA_ARGS__ }, COUNTOF(((const struct dev_arg[]){ __VA_ARGS__ }))

static bool launch(struct dev *d, struct dev_kernel *k, struct shape s, const struct dev_arg *args, size_t n_args)
{
    struct dev_launch l = { { s.grid[0], s.grid[1], s.grid[2] }, { s.block[0], s.block[1], s.block[2] }, s.shared, args,
                            n_args };
    return dev_launch(d, k, &l);
}

// Runs twice on N words in blocks of 64 threads, and checks them and the words behind them.
static void works(struct dev *d)
{
    enum { N = 1000, BEHIND = 24 };
    uint32_t in[N + BEHIND], out[N + BEHIND], n = N;
    for (uint32_t i = 0; i < N + BEHIND; i++) {
        in[i] = 3 * i + 1;
        out[i] = 0xabcd0000 + i;
    }
    struct dev_module *m = load(d);
    struct dev_kernel *k = kernel(d, m, "twice");
    dev_ptr from = alloc(d, "in", sizeof in), to = alloc(d, "out", sizeof out);
    OK(dev_upload(d, from, in, sizeof in) && dev_upload(d, to, out, sizeof out));
    OK(launch(d, k, SHAPE(.grid = { (N + BEHIND) / 64 }, .block = { 64 }),
              ARGS(DEV_ARG(to), DEV_ARG(from), DEV_ARG(n))));
    OK(dev_sync(d) && dev_download(d, out, to, sizeof out));
    for (uint32_t i = 0; i < N + BEHIND; i++)
        cr_assert_eq(out[i], i < N ? 2 * in[i] : 0xabcd0000 + i, "%s: out[%u] is %u", dev_about(d)->name, i, out[i]);
    OK(dev_free(d, from) && dev_free(d, to));
    dev_unload(d, m);
}

// --- refusals ---

static void one_line(struct dev *d, const char *what)
{
    const char *error = dev_error(d);
    size_t n = strlen(error);
    cr_assert(n && n < DEV_ERROR_MAX, "%s: %s: a message of %zu bytes", dev_about(d)->name, what, n);
    for (size_t i = 0; i < n; i++)
        cr_assert((unsigned char)error[i] >= ' ', "%s: %s: byte %d in the message '%s'", dev_about(d)->name, what,
                  error[i], error);
}

// Leaves a failure of another kind, so that a call that fails without a message of its own is found out.
static const char *spoil(struct dev *d)
{
    static char before[DEV_ERROR_MAX];
    cr_assert(!dev_free(d, 0), "%s frees address 0", dev_about(d)->name);
    one_line(d, "dev_free(d, 0)");
    return strcpy(before, dev_error(d));
}

// The call has failed and left one line that has every word, up to a NULL.
static void refused(struct dev *d, bool done, const char *before, const char *call, const char *const *words)
{
    cr_assert(!done, "%s: %s succeeded", dev_about(d)->name, call);
    cr_assert(strcmp(dev_error(d), before), "%s: %s left no message", dev_about(d)->name, call);
    one_line(d, call);
    for (; *words; words++)
        cr_assert(strstr(dev_error(d), *words), "%s: %s: '%s' does not mention '%s'", dev_about(d)->name, call,
                  dev_error(d), *words);
}

#define REFUSED(call, ...)                                                                                             \
    do {                                                                                                               \
        const char *before = spoil(d);                                                                                 \
        bool done = (call);                                                                                            \
        refused(d, done, before, #call, (const char *const[]){ __VA_ARGS__, NULL });                                   \
    } while (0)

// --- opening ---

DEVICE_TEST(says_what_it_is)
{
    const struct dev_about *a = dev_about(d);
    cr_assert(a->name[0] && a->detail[0]);
    cr_assert(strlen(a->name) < sizeof a->name && strlen(a->detail) < sizeof a->detail && !strchr(a->detail, '\n'));
    cr_assert(a->cc_major * 10 + a->cc_minor >= 75, "%s: compute capability %d.%d", a->name, a->cc_major, a->cc_minor);
    cr_assert(a->simulated ? a->sm_count == 0 : a->sm_count > 0, "%s: %d multiprocessors", a->name, a->sm_count);
    cr_assert(a->memory > 1 << 20 && a->shared_per_block >= 48 << 10 && a->max_threads == 1024, "%s: %zu, %zu, %u",
              a->name, a->memory, a->shared_per_block, a->max_threads);
    cr_assert_str_empty(dev_error(d));
    works(d);
    cr_assert_str_empty(dev_error(d));
}

Test(device, without_a_gpu_says_so_and_auto_is_the_simulated_one)
{
    char error[DEV_ERROR_MAX] = "";
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    cr_assert_null(dev_open(DEV_GPU, error));
    cr_assert(!strncmp(error, "no GPU: ", 8) && !strchr(error, '\n'), "%s", error);
    cr_assert(strstr(error, "libcuda.so.1") || strstr(error, "CUDA_ERROR_NO_DEVICE"), "%s", error);
    struct dev *d = dev_open(DEV_AUTO, error);
    cr_assert_not_null(d, "%s", error);
    cr_assert(dev_about(d)->simulated);
    works(d);
    dev_close(d);
    dev_close(NULL);
}

DEVICE_TEST(may_be_opened_twice_and_closed_alone)
{
    struct dev *other = open_or_skip(dev_about(d)->simulated ? DEV_SIM : DEV_GPU);
    works(other);
    works(d);
    dev_close(other);
    works(d);
}

static void *works_elsewhere(void *d)
{
    works(d);
    return NULL;
}

DEVICE_TEST(may_be_handed_to_another_thread)
{
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, works_elsewhere, d), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    works(d);
}

// --- memory ---

DEVICE_TEST(brings_back_what_was_uploaded)
{
    static const size_t sizes[] = { 1, 3, 255, 256, 4097, ((size_t)8 << 20) + 5 };
    for (size_t i = 0; i < COUNTOF(sizes); i++) {
        size_t bytes = sizes[i];
        unsigned char *a = malloc(bytes), *b = calloc(bytes, 1);
        dev_ptr p = alloc(d, "a", bytes);
        cr_assert(a && b);
        for (size_t j = 0; j < bytes; j++)
            a[j] = (unsigned char)(j * 2654435761u >> 13);
        OK(dev_upload(d, p, a, bytes) && dev_download(d, b, p, bytes));
        cr_assert_arr_eq(a, b, bytes, "%s: %zu bytes changed on the way", dev_about(d)->name, bytes);
        memset(a + bytes / 2, 0x5a, bytes - bytes / 2);  // a part, at an odd address
        OK(dev_upload(d, p + bytes / 2, a + bytes / 2, bytes - bytes / 2) && dev_download(d, b, p, bytes));
        cr_assert_arr_eq(a, b, bytes, "%s: a part of %zu bytes went elsewhere", dev_about(d)->name, bytes);
        OK(dev_free(d, p));
        free(a);
        free(b);
    }
}

DEVICE_TEST(lets_the_source_of_an_upload_change_at_once)
{
    enum { WORDS = 1 << 18 };
    uint32_t *data = calloc(WORDS, sizeof *data);
    dev_ptr p = alloc(d, "data", WORDS * sizeof *data);
    cr_assert_not_null(data);
    for (uint32_t round = 1; round < 5; round++) {
        for (uint32_t i = 0; i < WORDS; i++)
            data[i] = round;
        OK(dev_upload(d, p, data, WORDS * sizeof *data));
        memset(data, 0xee, WORDS * sizeof *data);
        cr_assert(word_at(d, p) == round && word_at(d, p + 4 * (WORDS - 1)) == round, "%s: round %u",
                  dev_about(d)->name, round);
    }
    free(data);
}

DEVICE_TEST(aligns_allocations_and_keeps_them_apart)
{
    enum { N = 64 };
    dev_ptr p[N];
    unsigned char bytes[N], got[N];
    for (size_t i = 0; i < N; i++) {
        p[i] = alloc(d, "piece", i + 1);
        memset(bytes, (int)i + 1, sizeof bytes);
        OK(dev_upload(d, p[i], bytes, i + 1));
        cr_assert_eq(p[i] % 256, 0, "%s: 0x%llx", dev_about(d)->name, (unsigned long long)p[i]);
    }
    for (size_t i = 0; i < N; i++) {
        OK(dev_download(d, got, p[i], i + 1));
        for (size_t j = 0; j <= i; j++)
            cr_assert_eq(got[j], i + 1, "%s: byte %zu of piece %zu is %d", dev_about(d)->name, j, i, got[j]);
    }
}

DEVICE_TEST(has_room_again_after_a_free)
{
    for (int i = 0; i < 6; i++)
        OK(dev_free(d, alloc(d, "a third", dev_about(d)->memory / 3)));
}

DEVICE_TEST(refuses_more_memory_than_there_is)
{
    dev_ptr p;
    char bytes[32];
    size_t all = dev_about(d)->memory + ((size_t)1 << 30);
    snprintf(bytes, sizeof bytes, "%zu", all);
    REFUSED(dev_alloc(d, "matrix A", all, &p), "matrix A", bytes);
    REFUSED(dev_alloc(d, "matrix A", SIZE_MAX, &p), "matrix A");
    REFUSED(dev_alloc(d, "matrix A", SIZE_MAX / 2 + 1, &p), "matrix A");
    REFUSED(dev_alloc(d, "A", 0, &p), "");
    REFUSED(dev_alloc(d, NULL, 4, &p), "");
    REFUSED(dev_alloc(d, "A", 4, NULL), "");
    works(d);
}

DEVICE_TEST(frees_an_allocation_once_and_nothing_else)
{
    dev_ptr p = alloc(d, "A", 4096);
    REFUSED(dev_free(d, p + 256), "not the start");
    REFUSED(dev_free(d, 0x10), "not the start");
    REFUSED(dev_free(d, UINT64_MAX), "not the start");
    OK(dev_free(d, p));
    REFUSED(dev_free(d, p), "freed already");
    works(d);
}

DEVICE_TEST(refuses_copies_from_and_to_nowhere)
{
    uint32_t word = 7;
    dev_ptr p = alloc(d, "A", sizeof word);
    OK(dev_upload(d, p, &word, 0) && dev_download(d, &word, p, 0) && dev_upload(d, 0, NULL, 0));
    REFUSED(dev_upload(d, 0, &word, 4), "4 bytes", "null");
    REFUSED(dev_upload(d, p, NULL, 4), "4 bytes", "null");
    REFUSED(dev_download(d, &word, 0, 4), "4 bytes", "null");
    REFUSED(dev_download(d, NULL, p, 4), "4 bytes", "null");
    REFUSED(dev_upload(d, 0x100, &word, 4), "");
    REFUSED(dev_download(d, &word, 0x100, 4), "");
    cr_assert_eq(word, 7);
    works(d);
}

DEVICE_TEST(refuses_copies_beyond_an_allocation)
{
    static unsigned char bytes[4200];
    dev_ptr p = alloc(d, "matrix A", 4096);
    REFUSED(dev_download(d, bytes, p + 1, 4096), "matrix A", "4096");
    REFUSED(dev_upload(d, p + 4000, bytes, 200), "matrix A", "200");
    REFUSED(dev_download(d, bytes, p + 4096, 1), "matrix A");
    REFUSED(dev_download(d, bytes, p + 1, SIZE_MAX), "matrix A");
    OK(dev_free(d, p));
    REFUSED(dev_download(d, bytes, p, 1), "");
    works(d);
}

// --- modules ---

DEVICE_TEST(loads_text_that_ends_without_a_nul)
{
    char *exact = malloc(sizeof text - 1);
    cr_assert_not_null(exact);
    memcpy(exact, text, sizeof text - 1);
    struct dev_module *m = dev_load_text(d, "exact", exact, sizeof text - 1);
    free(exact);  // the device keeps what it needs
    cr_assert_not_null(m, "%s: %s", dev_about(d)->name, dev_error(d));
    cr_assert_eq(kernel(d, m, "add"), kernel(d, m, "add"), "a kernel found twice is the same one");
    works(d);
}

DEVICE_TEST(keeps_modules_apart)
{
    static const char *const texts[] = {
        HEAD ".visible .entry k(.param .u64 p)\n" REGS " ld.param.u64 %x0, [p];\n mov.u32 %r0, 11;\n"
             " st.global.u32 [%x0], %r0;\n ret;\n}\n",
        HEAD ".visible .entry k(.param .u64 p)\n" REGS " ld.param.u64 %x0, [p];\n mov.u32 %r0, 22;\n"
             " st.global.u32 [%x0], %r0;\n ret;\n}\n",
    };
    dev_ptr p = alloc(d, "p", 4);
    struct dev_module *m[2];
    struct dev_kernel *k[2];
    for (int i = 0; i < 2; i++) {
        m[i] = dev_load_text(d, "same name", texts[i], strlen(texts[i]));
        cr_assert_not_null(m[i], "%s: %s", dev_about(d)->name, dev_error(d));
        k[i] = kernel(d, m[i], "k");
    }
    OK(launch(d, k[0], SHAPE(.grid = { 1 }), ARGS(DEV_ARG(p))));
    cr_assert_eq(word_at(d, p), 11);
    dev_unload(d, m[0]);
    dev_unload(d, NULL);
    OK(launch(d, k[1], SHAPE(.grid = { 1 }), ARGS(DEV_ARG(p))));
    cr_assert_eq(word_at(d, p), 22);
}

DEVICE_TEST(refuses_a_kernel_that_is_not_there)
{
    struct dev_module *m = load(d);
    REFUSED(dev_kernel(d, m, "gemm"), "kernels.ptx", "gemm");
    REFUSED(dev_kernel(d, m, "TWICE"), "kernels.ptx", "TWICE");
    REFUSED(dev_kernel(d, m, "two\nlines"), "kernels.ptx");
    REFUSED(dev_kernel(d, m, "pool"), "pool");
    REFUSED(dev_kernel(d, m, ""), "");
    REFUSED(dev_kernel(d, m, NULL), "");
    REFUSED(dev_kernel(d, NULL, "twice"), "");
    works(d);
}

DEVICE_TEST(refuses_text_that_is_not_ptx)
{
    static char flat[1 << 20];
    static const char *const bad[] = { "hello\n", "\n", " ", "// nothing\n", HEAD ".visible .entry k(", HEAD "}\n",
                                       ".version 99.9\n.target sm_75\n.address_size 64\n", "\xff\xfe\xfd\n" };
    for (size_t i = 0; i < COUNTOF(bad); i++) {
        struct dev_module *m = NULL;
        // An empty module may load; it has no kernel then.
        REFUSED((m = dev_load_text(d, "bad.ptx", bad[i], strlen(bad[i]))) && dev_kernel(d, m, "k"), "bad.ptx");
    }
    REFUSED(dev_load_text(d, "cut.ptx", text, sizeof text / 2), "cut.ptx");
    REFUSED(dev_load_text(d, "two\nlines", "hello\n", 6), "");
    memset(flat, '{', sizeof flat);
    REFUSED(dev_load_text(d, "braces.ptx", flat, sizeof flat), "braces.ptx");
    memset(flat, 'x', sizeof flat);
    flat[sizeof flat - 1] = '\0';
    REFUSED(dev_load_text(d, flat, "hello\n", 6), "");
    works(d);
}

DEVICE_TEST(names_the_line_of_a_bad_instruction)
{
    static const char bad[] = HEAD ".visible .entry k()\n{\n .reg .b32 %r;\n mov.u32 %r, 1;\n frob.u32 %r, %r;\n ret;\n}\n";
    struct dev_module *m = NULL;
    REFUSED((m = dev_load_text(d, "bad.ptx", bad, sizeof bad - 1)) && dev_kernel(d, m, "k"), "bad.ptx", "8");
    works(d);
}

// --- files ---

static char path[64];

static const char *scratch(const void *content, size_t bytes)
{
    if (path[0])
        unlink(path);
    strcpy(path, "/tmp/gemm-steps-XXXXXX");
    int fd = mkstemp(path);
    cr_assert(fd >= 0 && write(fd, content, bytes) == (ssize_t)bytes && !close(fd), "no scratch file");
    return path;
}

static void forget_scratch(void)
{
    if (path[0])
        unlink(path);
}

TestSuite(device, .fini = forget_scratch);

DEVICE_TEST(reads_a_file)
{
    struct dev_module *m = dev_load(d, scratch(text, sizeof text - 1));
    cr_assert_not_null(m, "%s: %s", dev_about(d)->name, dev_error(d));
    kernel(d, m, "twice");
}

DEVICE_TEST(refuses_files_that_hold_no_ptx)
{
    static char nowhere[5000];
    memset(nowhere, 'n', sizeof nowhere - 1);
    REFUSED(dev_load(d, "/nonexistent/kernel.ptx"), "/nonexistent/kernel.ptx", "No such file");
    REFUSED(dev_load(d, nowhere), "nnn", "too long");
    REFUSED(dev_load(d, "/tmp"), "/tmp", "directory");
    REFUSED(dev_load(d, scratch("", 0)), path, "empty");
    REFUSED(dev_load(d, scratch("\x7f""ELF\0\1\2\3", 8)), path, "binary");
    REFUSED(dev_load(d, scratch(text, sizeof text)), path, "binary");  // one NUL, at its end
    REFUSED(dev_load(d, scratch("hello\n", 6)), path);
    cr_assert_eq(truncate(scratch("x", 1), 100000000), 0);
    REFUSED(dev_load(d, path), path, "100000000", "64 MiB");
    errno = 0;
    REFUSED(dev_load(d, NULL), "path");
    cr_assert(!strstr(dev_error(d), "Success"), "%s", dev_error(d));
    REFUSED(dev_load_text(d, "x", NULL, 4), "");
    REFUSED(dev_load_text(d, NULL, text, 4), "");
    works(d);
}

