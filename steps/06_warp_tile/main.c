// The driver of step 06. Run it with --help.
#include "tester.h"

// A warp has 64 x 32, its lanes 8 x 4 pieces of 4 x 4, and each four of those.
static int owner(int row, int col)
{
    int warp = row / 64 * 4 + col / 32, r = row % 32 / 4, c = col % 16 / 4;
    return 32 * warp + 16 * (c / 2) + 2 * r + c % 2;
}

const struct step step = {
    .name = STEP_NAME,
    .ptx = KERNEL_PTX,
    .type = DEV_F32,
    .tile = { .m = 128, .n = 128, .k = 8 },
    .owner = owner,
    .block = 256,
};

int main(int argc, char **argv)
{
    return tester_main(&step, argc, argv);
}
