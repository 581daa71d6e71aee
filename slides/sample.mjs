// The sample that a test setup asks for, as tests/support/sample.h has it for the tests in C: meson test --setup brief tries one
// in n of a list, in its order.
export const brief = process.env.GEMM_STEPS_TESTS === 'brief';

export const sample = (list, n) => (brief ? list.filter((_, i) => i % n === 0) : list);
