// The driver of step 13. Run it with --help.
#include "tester/tester.h"

const struct step step = {
    .name = STEP_NAME,
    .ptx = KERNEL_PTX,
    .type = DEV_F16,
    .owner = owner_by_fragments,
};

int main(int argc, char **argv)
{
    return tester_main(&step, argc, argv);
}
