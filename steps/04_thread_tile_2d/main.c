// The driver of step 04. Run it with --help.
#include "tester.h"

const struct step step = {
    .name = STEP_NAME,
    .ptx = KERNEL_PTX,
    .type = DEV_F32,
    .tile = { .m = 128, .n = 128, .k = 8 },
    .thread = { .m = 8, .n = 8 },
    .block = 256,
};

int main(int argc, char **argv)
{
    return tester_main(&step, argc, argv);
}
