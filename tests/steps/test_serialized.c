// ptxas makes machine code of every step that is Hopper's own and says nothing of wgmma being serialized: where other
// instructions touch accumulators between a wgmma and its wait, it makes each product wait for the one before, which
// costs half the speed. A kernel that is written so is found.
#include <criterion/criterion.h>
#include <string.h>

#include "program_case.h"
#include "sample.h"

// What ptxas says of wgmma that cannot run asynchronously (C7510 to C7516), or NULL. Skips where there is no ptxas.
static const char *serialized(const char *ptx)
{
    static struct run r;
    if (!*PTXAS)
        cr_skip_test("no ptxas");
    run(&r, PTXAS, "-arch=sm_90a", "-o", "/dev/null", ptx, NULL);
    if (strstr(r.err, "is not defined for option 'gpu-name'"))
        cr_skip_test("a ptxas that does not know sm_90a");
    cr_assert(r.status == 0, "%s: %s", ptx, r.err);
    const char *found = strstr(r.err, "wgmma.mma_async instructions are serialized");
    return found ? found : strstr(r.out, "wgmma.mma_async instructions are serialized");
}

Test(serialized, no_wgmma_of_a_step_is)
{
    static const char *const steps[] = { STEPS };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (!sample_brief(i, 3))
            continue;
        const char *found = serialized(steps[i]);
        cr_expect(!found, "%s: %s", steps[i], found);
    }
}

Test(serialized, a_kernel_that_reads_accumulators_too_early_is)
{
    cr_expect(!serialized(GOOD_PTX), "the correct kernel is");
    cr_expect(serialized(BAD_PTX), "the planted one is not found");
}
