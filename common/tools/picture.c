// Turns a terminal's text into an SVG whose text stays text:  build/ladder | build/picture > picture.svg
// It reads well on light and dark pages. The first line and the verdicts stand out.
#include <stdio.h>
#include <string.h>

#include "base/options.h"

enum { MAX_LINES = 200, MAX_COLUMNS = 160 };

// One line of text as SVG: the characters that XML reserves are written as entities.
static void put_text(const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&':
            fputs("&amp;", stdout);
            break;
        case '<':
            fputs("&lt;", stdout);
            break;
        case '>':
            fputs("&gt;", stdout);
            break;
        default:
            putchar(*text);
        }
    }
}

// Marks the word where it stands alone; the rest is plain.
static void put_line(const char *text, int row)
{
    static const struct {
        const char *word, *kind;
    } marks[] = {
        { " right ", "good" },
        { " WRONG ", "bad" },
        { " FAILED ", "bad" },
    };
    printf("<text x=\"16\" y=\"%d\"%s xml:space=\"preserve\">", 28 + 18 * row, row ? "" : " class=\"head\"");
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *at = strstr(text, marks[i].word);
        if (!at)
            continue;
        printf("%.*s<tspan class=\"%s\">%s</tspan>", (int)(at - text), text, marks[i].kind, marks[i].word);
        text = at + strlen(marks[i].word);
    }
    put_text(text);
    puts("</text>");
}

int main(int argc, char **argv)
{
    static const struct option_row none[] = { { 0 } };
    static const struct options options = {
        .program = "picture",
        .usage = "< TEXT > PICTURE.svg\nTurns a terminal's text into a picture: ladder | picture > picture.svg",
        .rows = none,
    };
    int status;
    if (!options_begin(&options, NULL, &argc, &argv, &status))
        return status;
    static char lines[MAX_LINES][MAX_COLUMNS];
    int n = 0, columns = 0;
    while (n < MAX_LINES && fgets(lines[n], MAX_COLUMNS, stdin)) {
        lines[n][strcspn(lines[n], "\n")] = '\0';
        int length = (int)strlen(lines[n]);
        columns = length > columns ? length : columns;
        n++;
    }
    if (!n) {
        fputs("picture: there is no text on standard input; pipe a program into it\n", stderr);
        return 2;
    }
    int width = 32 + 8 * columns, height = 28 + 18 * n;
    printf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">\n",
           width, height, width, height);
    puts(
        "<style>\n"
        "  rect { fill: #f6f8fa } text { font: 13px/18px ui-monospace, 'DejaVu Sans Mono', monospace; fill: #1f2328 }\n"
        "  .head { font-weight: bold } .good { fill: #1a7f37 } .bad { fill: #cf222e; font-weight: bold }\n"
        "  @media (prefers-color-scheme: dark) {\n"
        "    rect { fill: #161b22 } text { fill: #e6edf3 } .good { fill: #3fb950 } .bad { fill: #ff7b72 }\n"
        "  }\n"
        "</style>");
    printf("<rect width=\"%d\" height=\"%d\" rx=\"8\"/>\n", width, height);
    for (int i = 0; i < n; i++)
        put_line(lines[i], i);
    puts("</svg>");
    return 0;
}
