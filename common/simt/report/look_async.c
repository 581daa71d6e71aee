// What to look at where the asynchronous proxy takes part: bulk copies and wgmma. See check_async.c for the rules.
#include "report.h"

static const char *look_copy(const struct fault *f)
{
    if (f->async && f->store)
        return "a stage may be copied to again once its copy has been waited for (mbarrier.try_wait) and its readers "
               "have arrived on an 'empty' mbarrier (mbarrier.arrive): is the stage's number right?";
    return "wait on the copy's mbarrier (mbarrier.try_wait.parity) before this line; if it does, is the parity that of "
           "this phase?";
}

static const char *look_race(const struct fault *f)
{
    if (f->other_async && f->other_store)
        return "this thread has not waited on the mbarrier of that copy: mbarrier.try_wait.parity, with the parity of "
               "this phase, or a barrier after a thread that has waited";
    if (f->async && f->store && f->other_wgmma)
        return "wgmma may still read this tile: wgmma.commit_group and wgmma.wait_group first, then mbarrier.arrive on "
               "the stage's 'empty' "
               "mbarrier, and the copying thread waits on it (mbarrier.try_wait) before it copies";
    if (f->async && f->store)
        return "each reader has to arrive on the stage's 'empty' mbarrier (mbarrier.arrive) after its last read, and "
               "the copying thread to wait on it (mbarrier.try_wait) before it copies";
    if (f->other_wgmma)
        return "wgmma may still read this: end its group (wgmma.commit_group), wait for that (wgmma.wait_group), and "
               "then a barrier, before it is overwritten";
    if (f->other_async)
        return "cp.async.bulk.wait_group.read by the thread that committed the copy's group, and then a barrier, "
               "before its source is overwritten: a wait by another thread waits for nothing";
    return "fence.proxy.async by each thread that stores, then a barrier, and only then the copy or wgmma that reads";
}

const char *report_look_async(const struct fault *f)
{
    switch (f->kind) {
    case FAULT_COPY:
        return look_copy(f);
    case FAULT_RACE:
        return look_race(f);
    case FAULT_PROXY:
        return "fence.proxy.async by the thread that stores, after its store and before the barrier";
    case FAULT_BYTES:
        return "mbarrier.arrive.expect_tx takes the sum of the bytes of all copies that report to this phase";
    case FAULT_FLIGHT:
        if (f->store && f->other_inst == f->inst)
            return "wgmma.fence before the first wgmma, and again after its registers were written";
        return f->store ? "wgmma.fence between the line that writes the registers and the wgmma that uses them"
                        : "wgmma.wait_group before the registers of a wgmma are read or written";
    default:
        return NULL;
    }
}
