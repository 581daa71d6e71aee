// A launch and its arguments, as every device takes them: grids and blocks, tensor maps, and their rules.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

#define DEV_CLUSTER_MAX 16  // blocks of a cluster; more than 8 are not there on every card

enum { DEV_UNWRITTEN = 0xcb };  // the byte that stands in uninitialised memory while checks are on

typedef uint64_t dev_ptr;  // an address in device memory; 0 is never one

// Called while the simulated GPU runs a launch, by the thread that launched: how many of its blocks have begun. 0 when
// it starts, all of them when it ends, whether it fails or not.
typedef void dev_progress(uint64_t done, uint64_t blocks);

struct dev_arg {
    const void *value;  // the parameter's bytes, as the kernel declares it
    size_t bytes;
};
#define DEV_ARG(lvalue)                                                                                                \
    {                                                                                                                  \
        &(lvalue), sizeof(lvalue)                                                                                      \
    }

struct dev_launch {
    unsigned grid[3];   // blocks in x, y, z; a 0 stands for 1
    unsigned block[3];  // threads in x, y, z; a 0 stands for 1
    size_t shared;      // bytes of dynamic shared memory
    const struct dev_arg *args;
    size_t n_args;
    unsigned cluster[3];  // blocks of a cluster in x, y, z (sm_90); all 0: as the kernel says, or no clusters
    bool early;  // may begin before the launch before it ends, if its kernel waits for that: griddepcontrol.wait
    // Of the simulated GPU alone. Blocks are numbered along x, then y, then z.
    uint64_t first;  // blocks before this one do not run, unless blocks take turns
    bool eager;  // bulk copies to shared memory arrive as early as they may, in place of as late; the last warp goes
                 // first, and one that has arrived at an mbarrier lets others go on
    bool apart;  // grid.sync() of cooperative groups fails, as in a launch of CUDA's that is not cooperative
};

// --- tensor maps: what the tensor memory accelerator is told of an array in device memory ---

// Element types, as CUtensorMapDataType numbers them.
enum dev_map_type {
    DEV_MAP_U8,
    DEV_MAP_U16,
    DEV_MAP_U32,
    DEV_MAP_S32,
    DEV_MAP_U64,
    DEV_MAP_S64,
    DEV_MAP_F16,
    DEV_MAP_F32,
    DEV_MAP_F64,
    DEV_MAP_BF16,
    DEV_MAP_F32_FTZ,
    DEV_MAP_TF32,
    DEV_MAP_TF32_FTZ,
    DEV_MAP_TYPES
};

// How a box lies in shared memory: in chunks of 16 bytes whose places within 32, 64 or 128 bytes are exchanged by row.
enum dev_swizzle { DEV_SWIZZLE_NONE, DEV_SWIZZLE_32, DEV_SWIZZLE_64, DEV_SWIZZLE_128 };

enum { DEV_MAP_RANK = 5, DEV_MAP_BYTES = 128 };

// An array and the box that one copy moves. Dimension 0 is the one whose elements lie side by side: a row-major matrix
// of rows x columns has size { columns, rows }.
struct dev_tensor {
    dev_ptr address;  // a multiple of 16
    enum dev_map_type type;
    unsigned rank;                      // dimensions: 1 to 5
    uint64_t size[DEV_MAP_RANK];        // elements: 1 to 2^32
    uint64_t stride[DEV_MAP_RANK - 1];  // bytes between neighbours along dimension i + 1: a multiple of 16 below 2^40;
                                        // not 0, unless there is one element
    uint32_t box[DEV_MAP_RANK];         // elements: 1 to 256; along dimension 0 a multiple of 16 bytes
    uint32_t step[DEV_MAP_RANK];        // takes every step-th element of the box: 1 to 8; 0 stands for 1
    enum dev_swizzle swizzle;           // if not NONE, a row of the box is no longer than its bytes
    bool nan;                           // what lies out of bounds reads as NaN, in place of 0
};

// A kernel takes it as `const __grid_constant__ CUtensorMap`. Its contents are the device's own.
struct dev_tensor_map {
    _Alignas(64) unsigned char bytes[DEV_MAP_BYTES];
};

// The tensor of a row-major matrix of rows x columns whose rows begin pitch elements apart, copied in boxes of box_rows
// x box_columns: for dev_tensor_map. pitch times the element's size has to be a multiple of 16 bytes.
struct dev_tensor dev_matrix(dev_ptr address, enum dev_map_type type, uint64_t rows, uint64_t columns, uint64_t pitch,
                             uint32_t box_rows, uint32_t box_columns, enum dev_swizzle swizzle);

unsigned dev_map_type_bytes(enum dev_map_type type);  // of an element

// Puts a 1 in place of each 0 of a tensor's steps, and checks the rules above. False, with one line in error.
bool tensor_settle(struct dev_tensor *t, char error[DEV_ERROR_MAX]);

// How large a launch may be. Source: CUDA C++ Programming Guide, technical specifications: limits of compute capability
// 5.0 and later.
enum { LAUNCH_GRID_YZ_MAX = 65535 };  // blocks of a grid along y, and along z

// Puts 1 in place of the 0s of a launch's sizes, and checks that it can be made on a device of that name, whose blocks
// have at most max_threads threads and max_shared bytes of dynamic shared memory. False, with one line in error.
bool launch_settle(struct dev_launch *l, const char *device, unsigned max_threads, size_t max_shared,
                   char error[DEV_ERROR_MAX]);
