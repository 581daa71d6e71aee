// The glossary and the chapters: every word of the glossary that a chapter uses is a link to its entry at its first
// use, and every link into the glossary has its entry. STEPS_FOLDER is steps/; chapters[] has the chapters that follow
// the rule.
//
// An entry of GLOSSARY.md is a heading "### word", and a line "Also: ..." with other names of it. Plurals are found
// without being listed. A chapter uses a word where the word stands in prose or in a table: not in a heading, not
// between backquotes, not in a block of code, not in a comment, not in a tag. Of two words that begin at the same place
// the longer one counts: "shared memory" is no use of "memory".
#include <criterion/criterion.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "file_text.h"

// Add a chapter here when it links the words that it uses.
static const char *const chapters[] = { "00_machine",        "01_naive",      "02_smem_tile",    "03_thread_tile_1d",
                                        "04_thread_tile_2d", "05_vectorized", "06_warp_tile",    "07_double_buffer",
                                        "08_wmma",           "09_wmma_smem",  "10_wmma_padding", "11_mma_ptx",
                                        "12_mma_swizzle",    "13_async_copy", "14_tma",          "15_wgmma",
                                        "16_warp_roles",     "17_persistent", "18_tma_store",    "19_four_stages",
                                        "20_any_shape" };

enum { ENTRIES = 200, FORMS = 8, LONGEST = 64 };

struct entry {
    char forms[FORMS][LONGEST];  // the first one is the heading
    size_t n_forms;
    char anchor[LONGEST];  // as GitHub makes it of the heading
    bool used;
};

struct glossary {
    struct entry entries[ENTRIES];
    size_t n;
};

// --- the glossary ---

static void add_form(struct entry *e, const char *text, size_t n)
{
    while (n && isspace((unsigned char)*text)) {
        text++;
        n--;
    }
    while (n && isspace((unsigned char)text[n - 1]))
        n--;
    cr_assert(n > 0 && n < LONGEST && e->n_forms < FORMS, "a bad name: %.*s", (int)n, text);
    memcpy(e->forms[e->n_forms], text, n);
    e->forms[e->n_forms++][n] = '\0';
}

static void add_anchor(struct entry *e)
{
    size_t n = 0;
    for (const char *p = e->forms[0]; *p; p++) {
        if (isalnum((unsigned char)*p) || *p == '-' || *p == '_')
            e->anchor[n++] = (char)tolower((unsigned char)*p);
        else if (*p == ' ')
            e->anchor[n++] = '-';
    }
    e->anchor[n] = '\0';
}

static struct glossary *parse_glossary(const char *text)
{
    struct glossary *g = calloc(1, sizeof *g);
    for (const char *line = text; *line;) {
        const size_t n = strcspn(line, "\n");
        if (!strncmp(line, "### ", 4)) {
            cr_assert(g->n < ENTRIES, "more than %d entries", ENTRIES);
            add_form(&g->entries[g->n], line + 4, n - 4);
            add_anchor(&g->entries[g->n++]);
        } else if (!strncmp(line, "Also: ", 6) && g->n) {
            for (const char *p = line + 6; p < line + n;) {
                const size_t name = strcspn(p, ",\n");
                add_form(&g->entries[g->n - 1], p, name);
                p += name + 1;
            }
        }
        line += n + (line[n] == '\n');
    }
    return g;
}

// --- words in a text ---

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

// A name in capitals has to be met as it is; of others the first letter may be a capital one, and a line may end
// within.
static bool same_letter(char of_text, char of_form, bool first, bool capitals)
{
    if (of_form == ' ')
        return isspace((unsigned char)of_text);
    if (first && !capitals)
        return tolower((unsigned char)of_text) == tolower((unsigned char)of_form);
    return of_text == of_form;
}

// How many characters of the text at p the form takes, its plural included; 0 if it does not stand there.
static size_t match(const char *p, const char *form)
{
    const bool capitals = isupper((unsigned char)form[0]) && !islower((unsigned char)form[1]);
    size_t n = 0;
    for (; form[n]; n++)
        if (!same_letter(p[n], form[n], n == 0, capitals))
            break;
    if (form[n] == 'y' && !form[n + 1] && !strncmp(p + n, "ies", 3) && !in_word(p[n + 3]))
        return n + 3;  // latency, latencies
    if (form[n])
        return 0;
    if (!in_word(p[n]))
        return n;
    if (p[n] == 's' && !in_word(p[n + 1]))
        return n + 1;
    return p[n] == 'e' && p[n + 1] == 's' && !in_word(p[n + 2]) ? n + 2 : 0;
}

// The entry of which the longest name stands at p.
static struct entry *entry_at(struct glossary *g, const char *p, size_t *length)
{
    struct entry *best = NULL;
    *length = 0;
    for (size_t i = 0; i < g->n; i++) {
        for (size_t k = 0; k < g->entries[i].n_forms; k++) {
            const size_t n = match(p, g->entries[i].forms[k]);
            if (n > *length) {
                *length = n;
                best = &g->entries[i];
            }
        }
    }
    return best;
}

static struct entry *entry_of_anchor(struct glossary *g, const char *anchor, size_t n)
{
    for (size_t i = 0; i < g->n; i++)
        if (strlen(g->entries[i].anchor) == n && !memcmp(g->entries[i].anchor, anchor, n))
            return &g->entries[i];
    return NULL;
}

// --- a chapter ---

static char *blank(char *from, char *to)
{
    for (char *p = from; p < to; p++)
        if (*p != '\n')
            *p = ' ';
    return to;
}

static char *past(char *from, const char *what)
{
    char *end = strstr(from, what);
    return end ? end + strlen(what) : from + strlen(from);
}

// Puts blanks in place of what is no prose: blocks of code, headings, comments, tags, text between backquotes,
// pictures.
static void leave_prose(char *text)
{
    for (char *p = text; *p;) {
        const bool begins = p == text || p[-1] == '\n';
        if (begins && !strncmp(p, "```", 3))
            p = blank(p, past(p + 3, "\n```"));
        else if (begins && *p == '#')
            p = blank(p, p + strcspn(p, "\n"));
        else if (!strncmp(p, "<!--", 4))
            p = blank(p, past(p, "-->"));
        else if (*p == '<' && (isalpha((unsigned char)p[1]) || p[1] == '/'))
            p = blank(p, past(p, ">"));
        else if (*p == '`')
            p = blank(p, past(p + 1, "`"));
        else if (*p == '!' && p[1] == '[')
            p = blank(p, past(p, ")"));
        else
            p++;
    }
}

// If p is within the text of a link, the link's address and its length; NULL if it is not.
static const char *link_of(const char *text, const char *p, size_t *length)
{
    const char *open = p, *close;
    while (open > text && *open != '[' && *open != ']')
        open--;
    close = *open == '[' ? strchr(open, ']') : NULL;
    if (!close || close < p || close[1] != '(')
        return NULL;
    *length = strcspn(close + 2, ")");
    return close + 2;
}

typedef void complain_fn(const char *chapter, unsigned line, const char *message, const char *word);

static unsigned line_number(const char *text, const char *p)
{
    unsigned line = 1;
    for (; text < p; text++)
        line += *text == '\n';
    return line;
}

static bool leads_to(const char *url, size_t n, const struct entry *e)
{
    static const char file[] = "GLOSSARY.md#";
    const char *at = url;
    while (at && at < url + n && (at = strstr(at, file)) && at < url + n) {
        at += strlen(file);
        return (size_t)(url + n - at) == strlen(e->anchor) && !memcmp(at, e->anchor, strlen(e->anchor));
    }
    return false;
}

static void check_uses(struct glossary *g, const char *chapter, const char *text, complain_fn *complain)
{
    for (size_t i = 0; i < g->n; i++)
        g->entries[i].used = false;
    for (const char *p = text; *p;) {
        size_t length = 0, url_length = 0;
        if (*p == ']' && p[1] == '(') {  // an address is no prose
            p += strcspn(p, ")");
            continue;
        }
        struct entry *e = p == text || !in_word(p[-1]) ? entry_at(g, p, &length) : NULL;
        if (!e) {
            p++;
            continue;
        }
        const char *url = e->used ? NULL : link_of(text, p, &url_length);
        if (!e->used && !(url && leads_to(url, url_length, e)))
            complain(chapter, line_number(text, p), "is used first, and not linked to the glossary", e->forms[0]);
        e->used = true;
        p += length;
    }
}

static void check_links(struct glossary *g, const char *chapter, const char *text, complain_fn *complain)
{
    static const char file[] = "GLOSSARY.md#";
    for (const char *p = text; (p = strstr(p, file));) {
        char anchor[LONGEST];
        p += strlen(file);
        const size_t n = strcspn(p, ")");
        snprintf(anchor, sizeof anchor, "%.*s", (int)n, p);
        if (!entry_of_anchor(g, p, n))
            complain(chapter, line_number(text, p), "is linked to, and has no entry in the glossary", anchor);
    }
}

static void check_chapter(struct glossary *g, const char *chapter, char *text, complain_fn *complain)
{
    leave_prose(text);
    check_uses(g, chapter, text, complain);
    check_links(g, chapter, text, complain);
}

// --- the checker itself ---

static char complaints[1000];

static void note(const char *chapter, unsigned line, const char *message, const char *word)
{
    (void)chapter;
    const size_t n = strlen(complaints);
    snprintf(complaints + n, sizeof complaints - n, "%u %s %c, ", line, word, message[3]);
}

Test(glossary, finds_what_is_used_and_not_linked)
{
    static const char glossary[] = "### bank\n\nA column.\n\n### shared memory\n\n### memory\n\n### SM\n\n"
                                   "### latency\n\nAlso: delay\n\n### issue slot\n";
    static const struct {
        const char *text, *found;
    } cases[] = {
        { "A [bank](GLOSSARY.md#bank) and another bank.", "" },
        { "A [bank](../00_machine/GLOSSARY.md#bank).", "" },
        { "Two\nbanks, and a [bank](GLOSSARY.md#bank).", "2 bank u, " },
        { "[banks of 4 bytes](GLOSSARY.md#bank)", "" },
        { "[Banks](GLOSSARY.md#memory)", "1 bank u, " },
        { "[Banks](NOTES.md#bank)", "1 bank u, " },
        { "An embankment, banked, BANK", "" },
        { "# bank\n`bank`\n```\nbank\n```\n<!-- bank -->\n<span id=\"bank\">x</span> ![bank](bank.svg)", "" },
        { "[shared memory](GLOSSARY.md#shared-memory)", "" },
        { "[shared\nmemory](GLOSSARY.md#shared-memory) is a memory", "2 memory u, " },
        { "An [SM](GLOSSARY.md#sm), sm, SMs", "" },
        { "SMs", "1 SM u, " },
        { "Latencies", "1 latency u, " },
        { "a delay", "1 latency u, " },
        { "[latencies](GLOSSARY.md#latency), [x](GLOSSARY.md#latenzy)", "1 latenzy l, " },
        { "[issue slots](GLOSSARY.md#issue-slot)", "" },
        { "[a link](memory.html)", "" },
    };
    struct glossary *g = parse_glossary(glossary);
    cr_assert_eq(g->n, 6);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[300];
        snprintf(text, sizeof text, "%s", cases[i].text);
        *complaints = '\0';
        check_chapter(g, "x", text, note);
        cr_expect_str_eq(complaints, cases[i].found, "%s: found '%s'", cases[i].text, complaints);
    }
    free(g);
}

// --- the chapters ---

static void complain(const char *chapter, unsigned line, const char *message, const char *word)
{
    cr_expect(false, "steps/%s/NOTES.md:%u: \"%s\" %s", chapter, line, word, message);
}

static struct glossary *read_glossary(void)
{
    char *text = file_text(STEPS_FOLDER "/00_machine/GLOSSARY.md");
    struct glossary *g = parse_glossary(text);
    free(text);
    return g;
}

Test(glossary, of_the_course_has_every_word_once)
{
    struct glossary *g = read_glossary();
    cr_assert_geq(g->n, 40, "%zu entries", g->n);
    for (size_t i = 0; i < g->n; i++)
        for (size_t k = 0; k < g->entries[i].n_forms; k++)
            for (size_t j = i + 1; j < g->n; j++)
                for (size_t l = 0; l < g->entries[j].n_forms; l++)
                    cr_expect_neq(strcasecmp(g->entries[i].forms[k], g->entries[j].forms[l]), 0,
                                  "%s: two entries have it", g->entries[i].forms[k]);
    free(g);
}

Test(glossary, words_of_the_chapters_are_linked_at_their_first_use)
{
    struct glossary *g = read_glossary();
    for (size_t i = 0; i < sizeof chapters / sizeof *chapters; i++) {
        char path[1000];
        snprintf(path, sizeof path, "%s/%s/NOTES.md", STEPS_FOLDER, chapters[i]);
        char *text = file_text(path);
        check_chapter(g, chapters[i], text, complain);
        size_t used = 0;
        for (size_t k = 0; k < g->n; k++)
            used += g->entries[k].used;
        cr_expect_geq(used, 5, "%s uses only %zu words of the glossary", chapters[i], used);
        free(text);
    }
    free(g);
}
