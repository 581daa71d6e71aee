// The driver of step 05. Run it with --help.
#include "tester.h"

// Pieces of 4 x 4, 64 rows or columns apart; 16 threads along the columns.
static int owner(int row, int col)
{
    return row % 64 / 4 * 16 + col % 64 / 4;
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
