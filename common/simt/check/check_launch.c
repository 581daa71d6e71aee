// A launch that begins before the one before it has ended (dev_launch.early), and uses what that one wrote without a
// griddepcontrol.wait. See check.h. Once a thread of the block has waited, the others count as told: whether a barrier
// lies in between is not looked at.
#include "check_state.h"

#include "simt/machine/memory.h"

void check_launch_before(struct warp *w, const struct uop *u, uint32_t lane, uint64_t address, bool store)
{
    const enum pending p = memory_pending(w->block->worker->grid->memory, address);
    if (p == SETTLED || (p == PENDING_LAST && w->block->launch_over))
        return;
    struct fault f = check_site(w, u->inst, lane, FAULT_LAUNCH_BEFORE);
    f.store = store;
    f.address = address;
    f.space = SPACE_GLOBAL;
    f.other_inst = f.inst;
    f.other_block = f.block;
    check_note(w->block->worker->check, &f);
}
