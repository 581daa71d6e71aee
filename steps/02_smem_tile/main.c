// The driver of step 02. Run it with --help.
#include "tester.h"

#ifndef REAL
#define REAL float
#endif

const struct step step = {
    .name = STEP_NAME,
    .ptx = KERNEL_PTX,
    .type = TYPE_OF(REAL),
    .tile = { .m = 32, .n = 32, .k = 64 },
    .block = 1024,
};

int main(int argc, char **argv)
{
    return tester_main(&step, argc, argv);
}
