// What NVIDIA's other libraries, which stand on the runtime, say to it. These two functions are all that it has beside
// CUDA's own.
#pragma once

// Of which call of the program's the launches of this thread are a part from now on, for reports: "cublasSgemm
// (07_double_buffer, 128 x 128)". NULL: of none. The text stays the caller's.
void __cudartNote(const char *call);  // NOLINT: CUDA's own style
// One line, with the line of the program that called.
void __cudartSay(const char *function, const char *why);  // NOLINT
