// What a program is told that reads or writes device memory by itself, before the signal ends it. Where addresses have
// 48 bits, as on x86-64, the addresses of device memory are none of the host's, and a signal does not say which it was.
#include <signal.h>
#include <ucontext.h>

#include "cudart.h"

static void *place_of(const ucontext_t *c)
{
#if defined(__x86_64__)
    return (void *)c->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (void *)c->uc_mcontext.pc;
#else
    return NULL;
#endif
}

static void tell(int number, siginfo_t *info, void *context)
{
    if (info->si_code <= 0)
        raise(number);  // it was sent, by no access
    if (info->si_code != SI_KERNEL && !cudart_memory_at(info->si_addr))
        return;
    const struct cudart_frames f = { .at = { (char *)place_of(context) + 1 },
                                     .n = 1 };  // as if it had called from there
    const char *place = cudart_place(&f, NULL);
    fprintf(stderr,
            "cudart: %s%sthe program itself uses an address that only device memory has: kernels and copies get there, "
            "and the program to what cudaMallocManaged gives\n",
            place, *place ? ": " : "");
}  // and the access fails again, without this

// Before main, so that a program's own way with the signal comes later.
__attribute__((constructor)) static void begin(void)
{
    struct sigaction before, now = { .sa_sigaction = tell, .sa_flags = SA_SIGINFO | (int)SA_RESETHAND };
    if (!sigaction(SIGSEGV, NULL, &before) && !(before.sa_flags & SA_SIGINFO) && before.sa_handler == SIG_DFL)
        sigaction(SIGSEGV, &now, NULL);
}
