// See finding_words.h.
#include "finding_words.h"

#include <inttypes.h>
#include <string.h>

#include "base/source.h"

void simt_finding_place_text(const struct simt_finding_place *p, char *text, size_t size)
{
    struct text_end t = { text, size };
    text_add(&t, "%.300s:%u", p->in_ptx ? p->file : source_base_name(p->file), p->line);
    if (!p->caller_file)
        return;
    if (!strcmp(p->caller_file, p->file))
        text_add(&t, ", called from line %u", p->caller);
    else
        text_add(&t, ", called from %.60s:%u", source_base_name(p->caller_file), p->caller);
}

void finding_where(struct text_end *t, const struct simt_finding_place *p)
{
    char where[400];
    simt_finding_place_text(p, where, sizeof where);
    text_add(t, "%s", where);
}

void finding_block(struct text_end *t, const uint32_t block[3])
{
    text_add(t, "block (%u,%u,%u)", block[0], block[1], block[2]);
}

void finding_thread(struct text_end *t, const struct simt_side *s)
{
    text_add(t, "thread (%u,%u,%u)", s->thread[0], s->thread[1], s->thread[2]);
}

static void say_shared(struct text_end *t, const struct simt_object *o)
{
    if (!o->name)
        text_add(t, "byte %" PRIu64 " of shared memory, of which the block has %" PRIu64 " bytes", o->address,
                 o->bytes);
    else if ((uint64_t)o->at >= o->bytes)
        text_add(t, "byte %" PRId64 " of %s (shared memory), which has %" PRIu64 " bytes", o->at, o->name, o->bytes);
    else
        text_add(t, "byte %" PRId64 " of %s (shared memory)", o->at, o->name);
    if (o->owner == SIMT_NO_BLOCK) {
        text_add(t, " of block %u of a cluster that has %u blocks", o->rank, o->blocks);
    } else if (o->owner == SIMT_OTHER_BLOCK) {
        text_add(t, " of ");
        finding_block(t, o->block);
    } else if (o->owner == SIMT_OTHER_WINDOW) {
        text_add(
            t,
            " of block %u of the cluster: an address in the shared memory of another block is for ld.shared::cluster "
            "and its like",
            o->rank);
    }
}

static void say_global(struct text_end *t, const struct simt_object *o)
{
    if (!o->name)
        text_add(t, "address 0x%" PRIx64 ", which no allocation holds%s", o->address,
                 o->address < 4096 ? " (a null pointer?)" : "");
    else if (o->at < 0)
        text_add(t, "%" PRId64 " bytes before the start of %s", -o->at, o->name);
    else if (o->freed)
        text_add(t, "byte %" PRId64 " of %s, which has been freed", o->at, o->name);
    else
        text_add(t, "byte %" PRId64 " of %s, which has %" PRIu64 " bytes", o->at, o->name, o->bytes);
}

void finding_object(struct text_end *t, const struct simt_object *o)
{
    if (o->space == SIMT_SHARED)
        say_shared(t, o);
    else if (o->space == SIMT_LOCAL)
        text_add(t, "byte %" PRIu64 " of local memory, of which a thread has %" PRIu64 " bytes", o->address, o->bytes);
    else if (o->space == SIMT_REGISTER)
        text_add(t, "%s", o->name ? o->name : "the carry flag");
    else
        say_global(t, o);
}

void simt_object_text(const struct simt_object *o, char *text, size_t size)
{
    struct text_end t = { text, size };
    finding_object(&t, o);
}

bool finding_same_block(const struct simt_finding *f)
{
    return !memcmp(f->here.block, f->there.block, sizeof f->here.block);
}

// The other thread, with its block if that is another.
void finding_other(struct text_end *t, const struct simt_finding *f)
{
    if (!finding_same_block(f)) {
        finding_block(t, f->there.block);
        text_add(t, ", ");
    }
    finding_thread(t, &f->there);
}
