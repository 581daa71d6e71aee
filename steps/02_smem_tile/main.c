// The driver of step 02. Run it with --help.
#include "tester/tester.h"

#ifndef REAL
#define REAL float
#endif

const struct step step = {
    .name = STEP_NAME,
    .ptx = KERNEL_PTX,
    .type = TYPE_OF(REAL),
    .owner = owner_by_patches,
};

int main(int argc, char **argv)
{
    return tester_main(&step, argc, argv);
}
