// The one device. Its settings come from the environment, since the program knows nothing of it: see README.md.
#include <pthread.h>
#include <stdlib.h>

#include "base/host.h"
#include "base/progress.h"
#include "cudart.h"

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void cudart_lock(void)
{
    pthread_mutex_lock(&lock);
}

void cudart_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

uint64_t cudart_setting(const char *name)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : 0;
}

bool cudart_times(void)
{
    return cudart_setting("CUDART_TIME");
}

const struct card *cudart_card(void)
{
    static const struct card *card;
    if (card)
        return card;
    const char *name = getenv("CUDART_CARD");
    card = name ? card_named(name) : card_at(0);
    if (!card) {
        card = card_at(0);
        fprintf(stderr, "cudart: CUDART_CARD: no card called \"%s\" is known, so %s it is\n", name, card->name);
    }
    return card;
}

struct tally *cudart_tally(void)
{
    static struct tally *given;
    static bool asked;
    if (!asked)
        given = tally_given();
    asked = true;
    return given;
}

// Before main: whoever started the program knows then that it comes here.
__attribute__((constructor)) static void arrive(void)
{
    struct tally *t = cudart_tally();
    if (t)
        t->programs++;
}

void cudart_tell(const char *kernel)
{
    struct tally *t = cudart_tally();
    if (t && !kernel) {
        t->work += simt_profile(cudart_gpu()) ? simt_profile(cudart_gpu())->total[METRIC_INST] : 0;
        t->done = t->blocks = 0;
    } else if (t) {
        t->began = host_seconds();
        snprintf(t->kernel, sizeof t->kernel, "%s", kernel);
        t->launches++;
    }
}

static void show(uint64_t done, uint64_t blocks)
{
    static dev_progress *shown;
    if (!shown)
        shown = progress_shown();
    shown(done, blocks);
    cudart_tally()->done = done;
    cudart_tally()->blocks = blocks;
}

struct simt *cudart_gpu(void)
{
    static struct simt *s;
    if (s)
        return s;
    s = simt_open();
    if (!s || !simt_keep_low(s)) {
        fputs("cudart: no memory is left for the simulated GPU\n", stderr);
        abort();
    }
    simt_set_jobs(s, (unsigned)cudart_setting("CUDART_JOBS"));
    simt_set_budget(s, cudart_setting("CUDART_BUDGET"));
    simt_set_tensor_cores(s, cudart_card()->cc >= 90 ? 90 : 80);
    simt_set_checks(s, cudart_setting("CUDART_CHECK"));
    if (cudart_tally())
        simt_set_progress(s, show);
    cudart_not_in_children();
    return s;
}
