// The driver of step 05. Run it with --help.
#include "tester/tester.h"

const struct step step = {
    .name = STEP_NAME,
    .ptx = KERNEL_PTX,
    .type = DEV_F32,
    .owner = owner_by_patches,
};

int main(int argc, char **argv)
{
    return tester_main(&step, argc, argv);
}
