// See svg.h. Source of the colours: Paul Tol, "light", a scheme for cells with black text.
#include "svg.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char style[] =
    "  svg { color-scheme: light dark }\n"
    "  text { font: 13px system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #1f2328; white-space: pre }\n"
    "  .head { font-size: 19px; font-weight: 600 } .huge { font-size: 26px; font-weight: 600 }\n"
    "  .large { font-size: 20px } .label { font-size: 17px } .big { font-weight: 600 } .small { font-size: 11px }\n"
    "  .code { font-family: ui-monospace, 'DejaVu Sans Mono', monospace } .tiny { font-size: 8.5px } .unit { "
    "font-size: 10px }\n"
    "  .dim { fill: #59636e } .bad { fill: #b3261e; font-weight: 600 } .ink { fill: #111111 }\n"
    "  .mid { text-anchor: middle } .end { text-anchor: end }\n"
    "  .page { fill: #ffffff } .frame { fill: #f6f8fa } .grid { fill: none; stroke: #d5dbe1 }\n"
    "  .late { fill: #fbe3df } .wanted { fill: #8fb3d9; fill-opacity: 0.3 }\n"
    "  .box { fill: none; stroke: #1f2328; stroke-width: 2 }\n"
    "  .piece { stroke: #ffffff; stroke-width: 1 } .zoom { stroke: #7d8590; stroke-dasharray: 5 4 }\n"
    "  .pill { fill: #ffffff; fill-opacity: 0.75 }\n"
    "  .edge { stroke: #8c959f } .chosen { fill: none; stroke: #111111; stroke-width: 6 }\n"
    "  .within { fill: none; stroke: #ffffff; stroke-width: 2 }\n"
    "  .wall { stroke: #1f2328; stroke-width: 2 }\n"
    "  .clash { fill: none; stroke: #b3261e; stroke-width: 2 }\n"
    "  .l0 { fill: #77aadd } .l1 { fill: #ee8866 } .l2 { fill: #eedd88 } .l3 { fill: #ffaabb }\n"
    "  .l4 { fill: #99ddff } .l5 { fill: #44bb99 } .l6 { fill: #bbcc33 } .l7 { fill: #cccccc }\n"
    "  @media (prefers-color-scheme: dark) {\n"
    "    text { fill: #e6edf3 } .dim { fill: #9198a1 } .bad { fill: #ff8f85 } .ink { fill: #111111 }\n"
    "    .page { fill: #0d1117 } .frame { fill: #161b22 } .grid { stroke: #2f3742 }\n"
    "    .late { fill: #42201f } .wanted { fill: #4a7fb5 } .box, .wall { stroke: #e6edf3 }\n"
    "    .piece { stroke: #0d1117 } .edge { stroke: #6e7681 }\n"
    "  }\n";

bool svg_open(struct svg *s)
{
    *s = (struct svg){ 0 };
    s->out = open_memstream(&s->body, &s->bytes);
    return s->out != NULL;
}

// The length of the UTF-8 sequence at p, whose lead byte is above 0x7f; 0 where it is none that XML allows.
static int sequence(const unsigned char *p)
{
    int n = p[0] >= 0xf0 && p[0] <= 0xf4 ? 4 : p[0] >= 0xe0 ? 3 : p[0] >= 0xc2 ? 2 : 0;
    if (p[0] > 0xf4)
        return 0;
    uint32_t code = p[0] & (0x7fu >> n);
    for (int i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (p[i] & 0x3f);
    }
    bool overlong = code < (n == 4 ? 0x10000u : n == 3 ? 0x800u : 0x80u);
    return overlong || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) || (code & ~1u) == 0xfffe ? 0 : n;
}

static void escape(FILE *out, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        const int n = *p > 0x7f ? sequence(p) : 1;
        const char *entity = *p == '&'               ? "&amp;"
                             : *p == '<'             ? "&lt;"
                             : *p == '>'             ? "&gt;"
                             : *p < ' ' || *p == 127 ? " "
                             : !n                    ? "\xef\xbf\xbd"
                                                     : NULL;
        if (entity)
            fputs(entity, out);
        else
            fwrite(p, 1, (size_t)n, out);
        p += n ? n : 1;
    }
}

static void escape_format(FILE *out, const char *format, va_list args)
{
    char text[2048];
    vsnprintf(text, sizeof text, format, args);
    escape(out, text);
}

char *svg_close(struct svg *s, double width, double height, const char *title)
{
    char *text = NULL;
    size_t bytes = 0;
    bool ok = !ferror(s->out);
    ok = !fclose(s->out) && ok;
    FILE *to = ok ? open_memstream(&text, &bytes) : NULL;
    if (to) {
        fprintf(to,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" width=\"%g\" height=\"%g\" "
                "role=\"img\">\n<title>",
                width, height, width, height);
        escape(to, title);
        fputs("</title>\n", to);
        if (*s->described) {
            fputs("<desc>", to);
            escape(to, s->described);
            fputs("</desc>\n", to);
        }
        fprintf(to, "<style>\n%s</style>\n", style);
        fprintf(to, "<rect class=\"page\" width=\"%g\" height=\"%g\" rx=\"8\"/>\n%s</svg>\n", width, height, s->body);
        ok = !ferror(to);
        if (fclose(to) || !ok) {
            free(text);
            text = NULL;
        }
    }
    free(s->body);
    return text;
}

void svg_describe(struct svg *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(s->described, sizeof s->described, format, args);
    va_end(args);
}

void svg_line(struct svg *s, double x1, double y1, double x2, double y2, const char *class)
{
    fprintf(s->out, "<path class=\"%s\" d=\"M%g %gL%g %g\"/>\n", class, x1, y1, x2, y2);
}

void svg_rect(struct svg *s, double x, double y, double width, double height, const char *class)
{
    fprintf(s->out, "<rect class=\"%s\" x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\"/>\n", class, x, y, width, height);
}

void svg_grid(struct svg *s, double x, double y, unsigned columns, unsigned rows, double width, double height)
{
    fputs("<path class=\"grid\" d=\"", s->out);
    for (unsigned i = 0; i <= columns; i++)
        fprintf(s->out, "M%g %gv%g", x + i * width, y, rows * height);
    for (unsigned i = 0; i <= rows; i++)
        fprintf(s->out, "M%g %gh%g", x, y + i * height, columns * width);
    fputs("\"/>\n", s->out);
}

void svg_bars(struct svg *s, const char *class, double x, double y, double width, double height, const bool *on,
              unsigned columns)
{
    fprintf(s->out, "<path class=\"%s\" d=\"", class);
    for (unsigned i = 0, end; i < columns; i = end) {
        for (end = i + 1; end < columns && on[i] && on[end]; end++)
            ;
        if (on[i])
            fprintf(s->out, "M%g %gh%gv%gh%gz", x + i * width, y, (end - i) * width, height, -((end - i) * width));
    }
    fputs("\"/>\n", s->out);
}

void svg_text(struct svg *s, double x, double y, const char *class, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(s->out, "<text class=\"%s\" x=\"%g\" y=\"%g\">", class, x, y);
    escape_format(s->out, format, args);
    fputs("</text>\n", s->out);
    va_end(args);
}

void svg_group(struct svg *s, const char *class, const char *hint, ...)
{
    fprintf(s->out, "<g class=\"%s\">", class);
    if (hint) {
        va_list args;
        va_start(args, hint);
        fputs("<title>", s->out);
        escape_format(s->out, hint, args);
        fputs("</title>", s->out);
        va_end(args);
    }
    fputc('\n', s->out);
}

void svg_end(struct svg *s)
{
    fputs("</g>\n", s->out);
}

const char *svg_lanes(uint32_t mask, bool brief, char text[LANES_TEXT])
{
    size_t n = 0;
    text[0] = '\0';
    const int first = mask ? __builtin_ctz(mask) : 0, count = __builtin_popcount(mask);
    const uint32_t run = mask >> first;
    if (brief && run & (run + 1)) {
        snprintf(text, LANES_TEXT, "%d+%d", first, count - 1);
        return text;
    }
    for (int i = 0; i < 32; i++) {
        int last = i;
        if (!(mask >> i & 1))
            continue;
        while (last < 31 && mask >> (last + 1) & 1)
            last++;
        const char *comma = n ? ", " : "";
        n += (size_t)(last > i ? snprintf(text + n, LANES_TEXT - n, "%s%d\xe2\x80\x93%d", comma, i, last)
                               : snprintf(text + n, LANES_TEXT - n, "%s%d", comma, i));
        i = last;
    }
    return text;
}
