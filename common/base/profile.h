// Counters of one kernel launch, in total and per source line, under the names that Nsight Compute gives them.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json;

// X(enumerator, name in Nsight Compute, what one unit is). Those that begin with simt__ it does not have. Divergent
// branches are those of the PTX: ptxas turns short ones into predicates. Those from GMMA on are Hopper's: a wgmma
// counts for each of its four warps, and bytes of TMA are those of whole sectors, of every block that they come to.
#define PROFILE_METRICS(X)                                                                                             \
    X(INST, "smsp__inst_executed.sum", "warp instructions")                                                            \
    X(THREAD_INST, "smsp__thread_inst_executed_pred_on.sum", "thread instructions")                                    \
    X(GLD_INST, "smsp__sass_inst_executed_op_global_ld.sum", "warp instructions")                                      \
    X(GST_INST, "smsp__sass_inst_executed_op_global_st.sum", "warp instructions")                                      \
    X(SLD_INST, "smsp__sass_inst_executed_op_shared_ld.sum", "warp instructions")                                      \
    X(SST_INST, "smsp__sass_inst_executed_op_shared_st.sum", "warp instructions")                                      \
    X(GLD_REQ, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "requests")                                          \
    X(GLD_SEC, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "32-byte sectors")                                    \
    X(GST_REQ, "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "requests")                                          \
    X(GST_SEC, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "32-byte sectors")                                    \
    X(SLD_WAVE, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "wavefronts")                        \
    X(SST_WAVE, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "wavefronts")                        \
    X(SLD_CONF, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "wavefronts")                              \
    X(SST_CONF, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "wavefronts")                              \
    X(LDSM_INST, "smsp__sass_inst_executed_op_ldsm.sum", "warp instructions")                                          \
    X(LDSM_WAVE, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum", "wavefronts")                     \
    X(LDSM_CONF, "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldsm.sum", "wavefronts")                 \
    X(STSM_WAVE, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_stsm.sum", "wavefronts")                     \
    X(STSM_CONF, "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_stsm.sum", "wavefronts")                 \
    X(LDGSTS_WAVE, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum", "wavefronts")                 \
    X(LDGSTS_CONF, "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum", "wavefronts")             \
    X(ATOM_WAVE, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_atom.sum", "wavefronts")                     \
    X(HMMA, "smsp__inst_executed_pipe_tensor_op_hmma.sum", "tensor-core instructions")                                 \
    X(DIVERGED, "smsp__sass_branch_targets_threads_divergent.sum", "branches")                                         \
    X(BAR, "simt__inst_executed_op_bar.sum", "warp instructions")                                                      \
    X(FLOP, "simt__flop.sum", "floating-point operations")                                                             \
    X(WAVE, "memory_l1_wavefronts_shared", "wavefronts")                                                               \
    X(WAVE_IDEAL, "memory_l1_wavefronts_shared_ideal", "wavefronts")                                                   \
    X(GMMA, "smsp__sass_inst_executed_op_shared_gmma.sum", "warp instructions")                                        \
    X(TMA_LD, "smsp__sass_inst_executed_op_tma_ld.sum", "warp instructions")                                           \
    X(TMA_ST, "smsp__sass_inst_executed_op_tma_st.sum", "warp instructions")                                           \
    X(TMA_RED, "smsp__sass_inst_executed_op_tma_red.sum", "warp instructions")                                         \
    X(TMA_LD_BYTES, "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum", "bytes")                                \
    X(TMA_ST_BYTES, "l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st.sum", "bytes")                               \
    X(TMA_RED_BYTES, "l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_red.sum", "bytes")

enum profile_metric {
#define X(id, name, unit) METRIC_##id,
    PROFILE_METRICS(X)
#undef X
        METRIC_COUNT
};

struct profile_line {
    const char *file;  // as the .file directive names it; for what a header does, the file that calls it
    unsigned line;     // 0 if the PTX names no line
    uint64_t metric[METRIC_COUNT];
    uint64_t merged;  // shared loads and stores of the PTX that the machine code does not have (simt/decode/merge.c)
};

struct profile {
    const char *kernel;
    unsigned grid[3], block[3];  // blocks; threads of a block
    unsigned shared;             // bytes of shared memory of a block, static and dynamic
    uint64_t total[METRIC_COUNT];
    struct profile_line *lines;  // by file, then line; only lines that executed something
    size_t n_lines;
};

const char *profile_metric_name(enum profile_metric m);  // Nsight Compute's name

// Prints the totals, one metric a line (not those that are 0, unless they are the conflicts of accesses that are
// there), or the hottest lines (at most max_lines) with the text of the source where the file can be read: warp
// instructions and their share, and those of sectors, shared wavefronts and bank conflicts that occur at all; an
// asterisk where shared loads or stores were merged. Lines of headers come last: they are there only if the compiler
// did not say what calls them.
void profile_print(FILE *out, const struct profile *p);
void profile_print_lines(FILE *out, const struct profile *p, size_t max_lines);

// Appends the object "metrics" to the open JSON object j: every metric under Nsight Compute's name.
void profile_json_metrics(struct json *j, const uint64_t metric[METRIC_COUNT]);

// Appends the keys "kernel", "device", "metrics" and "lines" to the open JSON object j.
void profile_json(struct json *j, const struct profile *p, const char *device);
