// The text of mutants (mutate.h) as the rules read it. Places are indices into struct mutants' text and code.
#pragma once

#include "mutate.h"

extern const char *const code_tiles[];     // what the steps call their shared arrays, up to NULL
extern const char *const code_barriers[];  // and their arrays of mbarriers

// Does the code have these characters at this place, or end with them before it? Is it a whole word?
bool code_starts(const struct mutants *s, size_t at, const char *what);
bool code_ends(const struct mutants *s, size_t at, const char *what);
bool code_word_at(const struct mutants *s, size_t at, const char *word);
bool code_is_word(char c);

size_t code_skip_blanks(const struct mutants *s, size_t at);
int code_depth_of(char c);                                // 1 for an opening bracket, -1 for a closing one
size_t code_closing(const struct mutants *s, size_t at);  // the bracket that closes the one at `at`

size_t code_line_begins(const struct mutants *s, size_t at);
size_t code_line_ends(const struct mutants *s, size_t at);
bool code_line_has(const struct mutants *s, size_t at, const char *word);  // the line of `at`

// Adds a mutant. One of what the kernel does not use is made, but not kept.
struct mutant *mutants_add(struct mutants *s, enum mutant_rule rule, size_t n, const struct edit *edits);

// The rules. Those of Hopper: mbarriers, copies by TMA, wgmma.
void mutate_by_rules(struct mutants *s);
void mutate_hopper(struct mutants *s);
