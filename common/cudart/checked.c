// What the checks found in the launches. A kernel that is launched in a loop makes the same mistake each time: what was
// found before at the same lines, in the same kernel launched from the same place, is only counted.
#include <stdlib.h>
#include <string.h>

#include "cudart.h"

static struct {
    unsigned launches, with_findings, findings, advices, told_before;
} count;

static void print_count(void)
{
    fprintf(stderr, "cudart: %u launches were checked, %u of them with findings: %u findings and %u advices\n",
            count.launches, count.with_findings, count.findings, count.advices);
    if (count.told_before)
        fprintf(stderr, "cudart: %u of these launches had what an earlier launch of the same kernel had, told once\n",
                count.told_before);
}

// --- What was told before ---

struct told {
    struct told *next;
    struct cudart_frames frames;
    char *what;
};

static void write_place(FILE *out, const struct simt_finding_place *p)
{
    fprintf(out, " %s:%u:%u", p->file ? p->file : "", p->line, p->caller);
}

// The kernel and, of each finding, its kind and places; the caller frees it. NULL if memory runs out.
static char *signature(const struct cudart_launch *l, const struct simt_findings *f)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fputs(l->name, out);
    for (size_t i = 0; i < f->n + f->n_advice; i++) {
        fprintf(out, " %d", (int)f->all[i].kind);
        write_place(out, &f->all[i].here.place);
        write_place(out, &f->all[i].there.place);
    }
    fclose(out);
    return text;
}

static bool is_told(const struct cudart_launch *l, const struct simt_findings *f)
{
    static struct told *all;
    char *what = signature(l, f);
    const struct told *t = all;
    while (what && t && (strcmp(t->what, what) || !cudart_same_frames(&t->frames, &l->frames)))
        t = t->next;
    struct told *new = what && !t ? malloc(sizeof *new) : NULL;
    if (!new) {
        free(what);
        return t;
    }
    *new = (struct told){ all, l->frames, what };
    all = new;
    return false;
}

void cudart_checked(const struct cudart_launch *l, const struct simt_findings *f)
{
    count.launches++;
    cudart_at_end(print_count);
    if (!f || !(f->n + f->n_advice))
        return;
    count.with_findings += f->n > 0;
    count.findings += (unsigned)f->n;
    count.advices += (unsigned)f->n_advice;
    if (cudart_tally())
        cudart_tally()->findings += f->n;
    if (is_told(l, f)) {
        count.told_before++;
        return;
    }
    const char *place = cudart_place(&l->frames, l->name);
    fprintf(stderr, "cudart: %s launch %u, of %s%s%s:\n", f->n ? "findings in" : "advice on", count.launches, l->name,
            *place ? ", launched at " : "", place);
    simt_findings_print(stderr, f, NULL);
}
