// The driver of step 08. Run it with --help.
#include "tester.h"

// A warp owns 64 x 64 elements. In each 8 x 8 of them a lane owns two neighbours.
static int owner(int row, int col)
{
    const int warp = row / 64 * 4 + col / 64;
    return warp * 32 + row % 8 * 4 + col % 8 / 2;
}

const struct step step = {
    .name = STEP_NAME,
    .ptx = KERNEL_PTX,
    .type = DEV_F16,
    .tile = { .m = 128, .n = 256, .k = 32 },
    .owner = owner,
    .block = 256,
    .shared = 32 * 256 * 4,  // a part of the tile of C
};

int main(int argc, char **argv)
{
    return tester_main(&step, argc, argv);
}
