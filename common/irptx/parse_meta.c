// Debug information: of the metadata only places, functions, blocks and files are kept.
#include "irptx/parse.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    enum ir_meta_kind kind;
} kinds[] = {
    { "DILocation", META_LOCATION },      { "DISubprogram", META_FUNCTION }, { "DILexicalBlock", META_BLOCK },
    { "DILexicalBlockFile", META_BLOCK }, { "DIFile", META_FILE },           { "DINamespace", META_BLOCK },
};

static uint32_t number_of(struct str s)
{
    return s.n ? (uint32_t)strtoul(s.p, NULL, 10) : 0;
}

// key: value; value is a number, a reference (!12), a text or a word.
static void parse_field(struct ir_meta *meta, struct str key, const struct token *value)
{
    const uint32_t n = value->kind == TOKEN_NUMBER || value->kind == TOKEN_META ? number_of(value->text) : 0;
    if (str_is(key, "line"))
        meta->line = n;
    else if (str_is(key, "column"))
        meta->column = n;
    else if (str_is(key, "scope"))
        meta->scope = n;
    else if (str_is(key, "inlinedAt"))
        meta->inlined_at = n;
    else if (str_is(key, "file"))
        meta->file = n;
    else if (str_is(key, "name") || str_is(key, "filename"))
        meta->name = value->text;
    else if (str_is(key, "linkageName"))
        meta->linkage = value->text;
}

// !12 = distinct !DILocation(line: 5, column: 3, scope: !10)
static void parse_line(struct ir_module *m, const char *line)
{
    const uint32_t number = (uint32_t)strtoul(line + 1, NULL, 10);
    struct lexer l;
    ll_begin(&l, line);
    for (int i = 0; i < 2; i++)  // !12 =
        ll_next(&l);
    if (str_is(l.token.text, "distinct"))
        ll_next(&l);
    struct ir_meta meta = { 0 };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && l.token.kind == TOKEN_META; i++)
        if (str_is(l.token.text, kinds[i].name))
            meta.kind = kinds[i].kind;
    if (!meta.kind || number > 10000000)
        return;
    ll_next(&l);
    while (!l.token.first && l.token.kind != TOKEN_END) {
        const struct token key = l.token;
        ll_next(&l);
        const bool word = key.kind == TOKEN_WORD && str_is(l.token.text, ":");
        if (word || key.kind == TOKEN_LABEL) {
            if (word)
                ll_next(&l);
            parse_field(&meta, key.text, &l.token);
        }
    }
    while (m->meta_count <= number) {
        m->meta = ir_grow(m, m->meta, m->meta_count, sizeof *m->meta);
        m->meta[m->meta_count++] = (struct ir_meta){ 0 };
    }
    m->meta[number] = meta;
}

void ll_meta(struct ir_module *m, const char *text)
{
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (*line == '!' && line[1] >= '0' && line[1] <= '9')
            parse_line(m, line);
    }
}
