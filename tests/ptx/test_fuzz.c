// The simulated GPU against texts that are almost PTX: seeded random mutations of the kernels in tests/ptx/fuzz and of
// some that nvcc made. What fuzz_case.c demands holds for all of them. The fuzzers proper are fuzz_load.c and
// fuzz_run.c; what they found stays in tests/ptx/fuzz, too.
#include <criterion/criterion.h>

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_case.h"
#include "sample.h"

enum { SEEDS_MAX = 100, TEXT_MAX = 64 << 10, LOADS = 20000, RUNS = 2000, RARE = 40 };

static struct seed {
    char *text;
    size_t bytes;
} seeds[SEEDS_MAX];
static size_t n_small, n_seeds;  // the small ones first

static void read_seed(const char *path)
{
    FILE *f = fopen(path, "rb");
    cr_assert(f && n_seeds < SEEDS_MAX, "%s cannot be read", path);
    struct seed *s = &seeds[n_seeds++];
    s->text = malloc(TEXT_MAX);
    cr_assert_not_null(s->text);
    s->bytes = fread(s->text, 1, TEXT_MAX, f);
    fclose(f);
}

static int is_ptx(const struct dirent *e)
{
    const char *dot = strrchr(e->d_name, '.');
    return dot && !strcmp(dot, ".ptx");
}

static void read_seeds(void)
{
    static const char *const more[] = { MORE_PTX };
    struct dirent **names;
    int n = scandir(FUZZ_FOLDER, &names, is_ptx, alphasort);
    cr_assert_gt(n, 0, "%s has no seeds", FUZZ_FOLDER);
    for (int i = 0; i < n; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", FUZZ_FOLDER, names[i]->d_name);
        read_seed(path);
        free(names[i]);
    }
    free(names);
    n_small = n_seeds;
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        read_seed(more[i]);
    cr_assert_not_null(freopen("/dev/null", "w", stdout));  // kernels print; Criterion reports from another process
}

static void free_seeds(void)
{
    for (size_t i = 0; i < n_seeds; i++)
        free(seeds[i].text);
}

TestSuite(fuzz, .init = read_seeds, .fini = free_seeds);

// --- mutations ---

static uint64_t state;

static size_t below(size_t n)  // splitmix64
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (size_t)((z ^ z >> 31) % n);
}

struct text {
    char p[TEXT_MAX];
    size_t n;
};

struct piece {
    size_t at, n;
};

// Puts what[n] in place of a piece of t, as far as there is room.
static void replace(struct text *t, struct piece old, const char *what, size_t n)
{
    if (t->n - old.n + n > TEXT_MAX)
        return;
    memmove(t->p + old.at + n, t->p + old.at + old.n, t->n - old.at - old.n);
    memcpy(t->p + old.at, what, n);
    t->n += n - old.n;
}

static struct piece some_line(const char *p, size_t n)
{
    size_t at = below(n), end = at;
    while (at && p[at - 1] != '\n')
        at--;
    while (end < n && p[end] != '\n')
        end++;
    return (struct piece){ at, end - at + (end < n) };
}

static bool in_token(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '%' || c == '$';
}

static struct piece some_token(const char *p, size_t n)
{
    size_t at = below(n), end;
    while (at < n && !in_token(p[at]))
        at++;
    while (at && in_token(p[at - 1]))
        at--;
    for (end = at; end < n && in_token(p[end]);)
        end++;
    return (struct piece){ at, end - at };
}

static struct piece some_number(const char *p, size_t n)
{
    size_t at = below(n), end;
    while (at < n && !isdigit((unsigned char)p[at]))
        at++;
    for (end = at; end < n && isdigit((unsigned char)p[end]);)
        end++;
    return (struct piece){ at, end - at };
}

static void mutate(struct text *t)
{
    static const char *const numbers[] = {
        "0",  "1",   "2",  "3",    "4",     "7",     "8",       "15",         "16",         "17",
        "31", "32",  "33", "63",   "64",    "65",    "99",      "127",        "128",        "255",
        "-1", "256", "-4", "1024", "65535", "65536", "1048576", "2147483647", "4294967296", "0x8000000000000000",
    };
    const struct seed *other = &seeds[below(n_small)];
    bool own = below(2);
    const char *from = own ? t->p : other->text;  // lines and tokens come from here
    size_t n_from = own ? t->n : other->bytes;
    char copy[1024];
    struct piece a, b;
    if (!t->n)
        return;
    switch (below(9)) {
    case 0:
        t->p[below(t->n)] ^= (char)(1 << below(8));
        break;
    case 1:
        t->p[below(t->n)] = (char)below(256);
        break;
    case 2:  // lines: one less, one twice, one from elsewhere
        replace(t, some_line(t->p, t->n), "", 0);
        break;
    case 3:
    case 4:
        a = some_line(t->p, t->n);
        b = some_line(from, n_from);
        b.n = b.n < sizeof copy ? b.n : sizeof copy;
        memcpy(copy, from + b.at, b.n);
        replace(t, (struct piece){ a.at, 0 }, copy, b.n);
        break;
    case 5:
    case 6:  // a token in place of another
        a = some_token(t->p, t->n);
        b = some_token(from, n_from);
        b.n = b.n < sizeof copy ? b.n : sizeof copy;
        memcpy(copy, from + b.at, b.n);
        replace(t, a, copy, b.n);
        break;
    case 7: {
        const char *number = numbers[below(sizeof numbers / sizeof *numbers)];
        replace(t, some_number(t->p, t->n), number, strlen(number));
        break;
    }
    case 8:
        a.at = below(t->n);
        a.n = below(t->n - a.at < 40 ? t->n - a.at + 1 : 40);
        replace(t, a, "", 0);
        break;
    }
}

static void fill(struct text *t, uint64_t seed, bool any)
{
    state = seed;
    const struct seed *s = &seeds[any && !below(RARE) ? n_small + below(n_seeds - n_small) : below(n_small)];
    memcpy(t->p, s->text, s->bytes);
    t->n = s->bytes;
    for (size_t k = 1 + below(4); k--;)
        mutate(t);
}

// --- tests ---

// FUZZ_SEED=123 tests/test_fuzz: other mutations than the usual ones.
static uint64_t first_seed(void)
{
    const char *seed = getenv("FUZZ_SEED");
    return seed ? strtoull(seed, NULL, 10) << 32 : 0;
}

// How many of so many mutations the test setup asks for: in brief, a quarter.
static size_t n_of(size_t mutations)
{
    return sample_asked() == SAMPLE_BRIEF ? mutations / 4 : mutations;
}

Test(fuzz, seeds_load_and_run)
{
    for (size_t i = 0; i < n_seeds; i++)
        cr_expect(fuzz_load(seeds[i].text, seeds[i].bytes), "seed %zu is refused", i);
    for (size_t i = 0; i < n_small; i++)
        fuzz_run(seeds[i].text, seeds[i].bytes);
}

Test(fuzz, mutations_load, .timeout = 200)
{
    static struct text t;
    size_t loaded = 0;
    const size_t all = n_of(LOADS);
    for (uint64_t i = 0; i < all; i++) {
        fill(&t, first_seed() + i, true);
        loaded += fuzz_load(t.p, t.n);
    }
    cr_expect_gt(loaded, all / 20, "only %zu of %zu texts were kernels", loaded, all);
}

Test(fuzz, mutations_run, .timeout = 200)
{
    static struct text t;
    size_t ran = 0;
    const size_t all = n_of(RUNS);
    for (uint64_t i = 0; i < all; i++) {
        fill(&t, first_seed() + LOADS + i, false);
        ran += fuzz_run(t.p, t.n);
    }
    cr_expect_gt(ran, all / 20, "only %zu of %zu kernels ran", ran, all);
}
