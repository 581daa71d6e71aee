// What the debugger asks of a kernel's instructions: which line of its own file they are of, where branches go, and
// which deal with barriers and mbarriers.
#include <stdlib.h>
#include <string.h>

#include "inside.h"

static bool has(const struct simt_instruction *in, const char *part)
{
    return memmem(in->op, in->op_bytes, part, strlen(part));
}

static bool begins(const struct simt_instruction *in, const char *with)
{
    const size_t n = strlen(with);
    return in->op_bytes >= n && !memcmp(in->op, with, n);
}

static enum op_kind kind_of(const struct simt_instruction *in)
{
    static const struct {
        const char *begins, *has;
        enum op_kind kind;
    } kinds[] = { { "bra", "", OP_BRANCH },
                  { "ret", "", OP_END },
                  { "exit", "", OP_END },
                  { "trap", "", OP_END },
                  { "bar", "", OP_BARRIER },
                  { "mbarrier.init", "", OP_INIT },
                  { "mbarrier.arrive", ".expect_tx", OP_EXPECT },
                  { "mbarrier.expect_tx", "", OP_EXPECT },
                  { "mbarrier.arrive", "", OP_ARRIVE },
                  { "cp.async.mbarrier.arrive", "", OP_ARRIVE },
                  { "mbarrier.t", "_wait", OP_LOOK },
                  { "cp.async.bulk", "mbarrier::complete_tx", OP_COPY },
                  { "cp.async", ".wait_", OP_WAIT },
                  { "wgmma.wait_group", "", OP_WAIT },
                  { "wgmma.mma_async", "", OP_PRODUCT } };
    if (begins(in, "bar.warp"))
        return OP_OTHER;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (begins(in, kinds[i].begins) && has(in, kinds[i].has))
            return kinds[i].kind;
    return OP_OTHER;
}

// The kernel's own file is that of the outermost place: what is inlined is called from there.
static bool find_file(struct watch *w)
{
    const char *file = "";
    struct simt_place p;
    for (uint32_t i = 0; i < w->n_code && !*file; i++)
        for (uint32_t at = 0; simt_instruction_place(w->kernel, i, at, &p); at++)
            file = p.file;
    w->file = strdup(file);
    return w->file;
}

static unsigned line_of(const struct watch *w, uint32_t instruction)
{
    struct simt_place p;
    for (uint32_t at = 0; simt_instruction_place(w->kernel, instruction, at, &p); at++)
        if (!strcmp(p.file, w->file))
            return p.line;
    return 0;
}

bool watch_read_code(struct watch *w)
{
    w->n_code = simt_kernel_about(w->kernel).instructions;
    w->code = calloc(w->n_code + 1, sizeof *w->code);
    if (!w->code || !find_file(w))
        return false;
    struct simt_instruction in;
    for (uint32_t i = 0; simt_instruction(w->kernel, i, &in); i++)
        w->code[i] = (struct instruction){ .kind = kind_of(&in),
                                           .guarded = in.guard != SIMT_NO_REGISTER,
                                           .arrives = has(&in, "arrive"),
                                           .line = line_of(w, i),
                                           .target = in.target };
    return true;
}

const char *watch_file(const struct watch *w)
{
    return w->file;
}

unsigned watch_line(const struct watch *w, uint32_t instruction)
{
    return instruction < w->n_code ? w->code[instruction].line : 0;
}
