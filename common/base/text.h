// Pieces of text for people: numbers, plurals, lines.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEXT_GROUPED 32
#define TEXT_NUMBER 16
// Writes value with a comma between groups of three digits to text, and returns text.
const char *text_grouped(uint64_t value, char text[TEXT_GROUPED]);

#define TEXT_DURATION 24
// As people say it, rounded: "20 seconds", "12 minutes", "2.8 hours", "40 days"; returns text.
const char *text_duration(double seconds, char text[TEXT_DURATION]);

const char *text_plural(uint64_t n);  // "s", or "" for 1

bool text_begins(const char *text, const char *with);

// Whether the text means a step or an exercise of that name: "7", "07" and "07_double_buffer" mean 07_double_buffer,
// and "7b" means 07b_split_k.
bool text_means(const char *text, const char *name);

// The shortest text that means the name, "7b" for 07b_split_k; returns number.
const char *text_number(const char *name, char number[TEXT_NUMBER]);

// Makes one line of text, whatever names it holds: each control character becomes the character instead.
void text_one_line(char *text, char instead);

struct text_end {  // where a text goes on, and how much room is left, its NUL included
    char *at;
    size_t left;
};
void text_add(struct text_end *t, const char *format, ...) __attribute__((format(printf, 2, 3)));  // cut if need be
void text_add_warps(struct text_end *t, uint32_t warps);  // a bit for each: "warps 0 to 3, 8"

// A command for the shell of these words, up to a NULL, quoted where that is needed. The caller frees it; NULL when
// memory runs out.
char *text_command(char *const *words);

unsigned text_line(const char *text, const char *at);  // the number of the line that at is in, from 1
