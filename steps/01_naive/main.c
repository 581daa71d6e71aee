// The driver of step 01. Run it with --help.
#include "tester.h"

const struct step step = {
    .name = STEP_NAME,
    .ptx = KERNEL_PTX,
    .type = DEV_F32,
    .tile = { .m = 32, .n = 32 },
    .block = 1024,
};

int main(int argc, char **argv)
{
    return tester_main(&step, argc, argv);
}
