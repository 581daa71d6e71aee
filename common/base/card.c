// See card.h.
#include "card.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#ifndef CARDS  // a test has a longer table
#define CARDS "card.def"
#endif

static const struct card cards[] = {
#define CARD(name_, ...) { .name = name_, __VA_ARGS__ },
#include CARDS
#undef CARD
};
enum { N = sizeof cards / sizeof *cards };

static bool same_name(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a == ' ')
            a++;
        while (*b == ' ')
            b++;
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
        if (!*a)
            return true;
    }
}

const struct card *card_at(unsigned i)
{
    return i < N ? &cards[i] : NULL;
}

const struct card *card_meant(const struct card *asked)
{
    return asked ? asked : cards;
}

const struct card *card_named(const char *name)
{
    for (int i = 0; i < N; i++)
        if (same_name(cards[i].name, name))
            return &cards[i];
    return NULL;
}

const struct card *card_of_device(const char *name, unsigned sms)
{
    for (int i = 0; i < N; i++) {
        const size_t n = strlen(cards[i].device);
        for (const char *at = name; sms == cards[i].sms && (at = strstr(at, cards[i].device)); at++)
            if ((at == name || at[-1] == ' ') && (at[n] == '\0' || at[n] == ' '))
                return &cards[i];
    }
    return NULL;
}

void card_write(FILE *out)
{
    fprintf(out, "card,capability,sms,ghz,f32,tensor,warps,l1_kib,shared_kib,l2_mb,dram_gb,dram_gb_s,tflops_f32,"
                 "tflops_f16,source\n");
    for (const struct card *c = cards; c < cards + N; c++)
        fprintf(out, "%s,%.1f,%u,%g,%u,%u,%u,%u,%u,%g,%u,%u,%g,%g,%s\n", c->name, c->cc / 10.0, c->sms, c->ghz, c->f32,
                c->tensor, c->threads / 32, c->l1_kib, c->block_kib, c->l2_mb, c->dram_gb, c->dram, c->tflops_f32,
                c->tflops_f16, c->source);
}
