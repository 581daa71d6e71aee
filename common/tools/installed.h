// Where a program finds the files that it reads when it runs: in the build folder, or where `meson install` put them.
#pragma once

enum { INSTALLED_PATH = 4096 };

// Where the file is that the build made at `built`; returns path, or built itself.
// - Installed: under the same name in share/gemm-steps, which is found from the program's own place. So an installed
//   tree may be moved, and DESTDIR works.
// - In the build folder: built.
// - Elsewhere, if the build folder is gone: where the build was told to install it.
const char *installed_file(const char *built, char path[INSTALLED_PATH]);
