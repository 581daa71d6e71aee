// The driver of step 02: what it runs. Run it with --help; its main() is in common/tester/driver.c.
#include "tester/step.h"

#ifndef REAL
#define REAL float
#endif

const struct step step = {
    .name = STEP_NAME,
    .ptx = KERNEL_PTX,
    .type = TYPE_OF(REAL),
    .owner = owner_by_patches,
};
