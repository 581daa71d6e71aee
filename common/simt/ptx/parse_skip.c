// What the PTX parser does after an error: it looks for the end of the function or declaration that it gave up, so that
// the rest of the file can be used.
#include "parse.h"

const char *parse_keep_error(struct parser *p)
{
    const char *kept = arena_printf(p->m->arena, "%s", p->error);
    if (!kept)
        longjmp(*p->failed, 1);
    return kept;
}

// Words with which a declaration of its own begins.
static bool begins_declaration(const struct token *t)
{
    static const char *const words[] = { ".visible", ".extern", ".weak",    ".common", ".entry",
                                         ".func",    ".file",   ".section", ".version" };
    for (size_t i = 0; t->kind == TOK_DIRECTIVE && i < sizeof words / sizeof *words; i++)
        if (str_is(t->text, words[i]))
            return true;
    return false;
}

// A declaration ends with its ';', or with the '}' of its body, and a ';' behind that.
void parse_skip(struct parser *p, struct lexer start, struct str *name)
{
    const struct token *t = &p->lex.tok;
    uint32_t depth = 0;
    p->lex = start;
    for (;; lex_next(&p->lex)) {
        const char c = t->kind == TOK_PUNCT ? t->punct : 0;
        if (t->kind == TOK_END)
            longjmp(*p->failed, 1);  // the text is cut off: the first error stands
        if (!depth && begins_declaration(t))
            return;
        if (name && !name->n && t->kind == TOK_NAME)
            *name = t->text;
        depth += c == '{';
        if (!depth && c == ';')
            break;
        if (c == '}' && depth && !--depth) {
            lex_next(&p->lex);
            parse_accept(p, ';');
            return;
        }
    }
    lex_next(&p->lex);
}
