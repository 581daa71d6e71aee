// The driver of step 03. Run it with --help.
#include "tester.h"

const struct step step = {
    .name = STEP_NAME,
    .ptx = KERNEL_PTX,
    .type = DEV_F32,
    .tile = { .m = 64, .n = 64, .k = 8 },
    .thread = { .m = 8 },
    .block = 512,
};

int main(int argc, char **argv)
{
    return tester_main(&step, argc, argv);
}
