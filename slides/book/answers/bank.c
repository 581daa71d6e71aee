// The bank explorer's answers, compiled to WebAssembly with common/simt/machine/cost.c: the simulator's own rules.
#include "simt/simt.h"

struct bank_answer {
    uint32_t waves, conflicts, ideal, phases;
    struct {
        uint32_t lanes;
        struct shared_passes passes;
    } phase[4];
};

enum bank_access { BANK_LOAD, BANK_STORE, BANK_MATRICES };

// In: a byte address for each lane. Out: what the access costs, and each phase of it.
uint32_t bank_address[32];
struct bank_answer bank_answer;

// bytes: a lane's, 1 to 16. With BANK_MATRICES the lanes name rows of 16 bytes, eight for each of 1, 2 or 4 matrices.
void bank_explore(enum bank_access access, uint32_t bytes, uint32_t matrices)
{
    uint32_t lanes[4], n = matrices;
    struct shared_cost cost;
    if (access == BANK_MATRICES) {
        cost = cost_matrices(bank_address, matrices);
        for (uint32_t i = 0; i < n; i++)
            lanes[i] = COST_ROWS(i);
    } else {
        cost = cost_shared(bank_address, ~0u, bytes, access == BANK_LOAD);
        n = cost_phases(bank_address, ~0u, bytes, access == BANK_LOAD, lanes);
    }
    bank_answer.waves = cost.waves;
    bank_answer.conflicts = cost.conflicts;
    bank_answer.ideal = cost.ideal;
    bank_answer.phases = n;
    for (uint32_t i = 0; i < n; i++) {
        bank_answer.phase[i].lanes = lanes[i];
        cost_passes(bank_address, lanes[i], access == BANK_MATRICES ? 16 : bytes, &bank_answer.phase[i].passes);
    }
}
