// The driver of step 17: what it runs. Run it with --help; its main() is in common/tester/driver.c.
#include "tester/step.h"

const struct step step = {
    .name = STEP_NAME,
    .ptx = KERNEL_PTX,
    .type = DEV_F16,
    .owner = owner_by_fragments,
};
