// The driver of step 08. Run it with --help.
#include "tester.h"

// A warp owns 16 x 16 elements. In each 8 x 8 of them a lane owns two neighbours.
static int owner(int row, int col)
{
    const int warp = row / 16 * 2 + col / 16;
    return warp * 32 + row % 8 * 4 + col % 8 / 2;
}

const struct step step = {
    .name = STEP_NAME,
    .ptx = KERNEL_PTX,
    .type = DEV_F16,
    .tile = { .m = 64, .n = 32, .k = 16 },
    .owner = owner,
    .block = 256,
    .shared = 8 * (16 * 16 + 16 * 16) * 2,  // As and Bs for each warp
};

int main(int argc, char **argv)
{
    return tester_main(&step, argc, argv);
}
