// In place of Criterion's, where the checks of the exercises are compiled for the book's pages: what they use of it. A
// test that fails says why, and ends there; edit_check.c runs them.
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct edit_test {
    const char *file, *name;
    void (*run)(void);
    struct edit_test *next;
};

void edit_test_add(struct edit_test *t);
__attribute__((noreturn, format(printf, 1, 2))) void edit_test_fail(const char *format, ...);
__attribute__((noreturn, format(printf, 1, 2))) void edit_test_skip(const char *format, ...);

// In each file of its own, so that equal names do not meet.
#define Test(suite, title)                                                                                             \
    static void suite##_##title(void);                                                                                 \
    __attribute__((constructor)) static void add_##suite##_##title(void)                                               \
    {                                                                                                                  \
        static struct edit_test t = { .file = __FILE__, .name = #title, .run = suite##_##title };                      \
        edit_test_add(&t);                                                                                             \
    }                                                                                                                  \
    static void suite##_##title(void)

#define cr_assert_fail(...) edit_test_fail("" __VA_ARGS__)
#define cr_assert(condition, ...) ((condition) ? (void)0 : edit_test_fail("" __VA_ARGS__))
#define cr_assert_eq(a, b, ...) cr_assert((a) == (b), __VA_ARGS__)
#define cr_assert_neq(a, b, ...) cr_assert((a) != (b), __VA_ARGS__)
#define cr_assert_leq(a, b, ...) cr_assert((a) <= (b), __VA_ARGS__)
#define cr_assert_geq(a, b, ...) cr_assert((a) >= (b), __VA_ARGS__)
#define cr_assert_not_null(p, ...) cr_assert((p) != (void *)0, __VA_ARGS__)
#define cr_skip_test(...) edit_test_skip("" __VA_ARGS__)
