// What a block of the simulated card may have: that of compute capability 9.0.
#pragma once

#define SHARED_MAX 232448        // bytes of shared memory: 227 KB
#define STATIC_SHARED_MAX 49152  // bytes of it in arrays that are declared with a size: 48 KB, as ptxas allows
#define THREADS_MAX 1024         // threads
