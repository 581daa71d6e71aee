// The ELF side: sections, symbols, and the attributes in .nv.info. Source of the attributes' numbers: the listings of
// cuobjdump -elf (EIATTR_...).
#include "base/text.h"
#include "cubin.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct elf {
    const unsigned char *data;
    size_t bytes;
    const Elf64_Ehdr *head;
    const Elf64_Shdr *sections;
    const char *names;
    size_t names_bytes;
};

static bool fail(char error[200], const char *what, const char *detail)
{
    snprintf(error, 200, "%s%.150s", what, detail);
    return false;
}

static bool inside(const struct elf *e, uint64_t at, uint64_t n)
{
    return at <= e->bytes && n <= e->bytes - at;
}

static bool open_elf(struct elf *e, const unsigned char *data, size_t bytes, char error[200])
{
    *e = (struct elf){ .data = data, .bytes = bytes, .head = (const Elf64_Ehdr *)data };
    if (bytes < sizeof *e->head || memcmp(data, ELFMAG, SELFMAG) || data[EI_CLASS] != ELFCLASS64)
        return fail(error, "not a cubin", "");
    e->sections = (const Elf64_Shdr *)(data + e->head->e_shoff);
    if (e->head->e_shoff % 8 || !inside(e, e->head->e_shoff, (uint64_t)e->head->e_shnum * sizeof *e->sections) ||
        e->head->e_shstrndx >= e->head->e_shnum)
        return fail(error, "the cubin's section table is broken", "");
    for (unsigned i = 0; i < e->head->e_shnum; i++)
        if (e->sections[i].sh_type != SHT_NOBITS && !inside(e, e->sections[i].sh_offset, e->sections[i].sh_size))
            return fail(error, "a section of the cubin is cut off", "");
    const Elf64_Shdr *names = &e->sections[e->head->e_shstrndx];
    e->names = (const char *)data + names->sh_offset;
    e->names_bytes = names->sh_size;
    if (!e->names_bytes || e->names[e->names_bytes - 1])
        return fail(error, "the cubin's section names are broken", "");
    return true;
}

static const char *section_name(const struct elf *e, const Elf64_Shdr *s)
{
    return s->sh_name < e->names_bytes ? e->names + s->sh_name : "";
}

// The section whose name is prefix, or prefix and the kernel's name.
static const Elf64_Shdr *find_section(const struct elf *e, const char *prefix, const char *kernel)
{
    for (unsigned i = 0; i < e->head->e_shnum; i++) {
        const char *name = section_name(e, &e->sections[i]);
        if (text_begins(name, prefix) && !strcmp(name + strlen(prefix), kernel))
            return &e->sections[i];
    }
    return NULL;
}

static uint16_t get16(const unsigned char *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t get32(const unsigned char *p)
{
    return get16(p) | (uint32_t)get16(p + 2) << 16;
}

enum { INFO_PARAM_CBANK = 0x0a, INFO_FRAME_SIZE = 0x11, INFO_KPARAM = 0x17, INFO_REGCOUNT = 0x2f };

// Walks the attributes of an .nv.info section: format, number, size or value, value.
static void read_info(struct cubin *c, const struct elf *e, const Elf64_Shdr *s, uint32_t symbol)
{
    const unsigned char *p = s ? e->data + s->sh_offset : NULL, *end = s ? p + s->sh_size : NULL;
    while (p && end - p >= 4) {
        const unsigned number = p[1], size = p[0] == 4 ? get16(p + 2) : 0;
        const unsigned char *value = p + 4;
        if ((size_t)(end - value) < size)
            return;
        if (number == INFO_PARAM_CBANK && size >= 8) {
            c->param_base = get16(value + 4);
            c->param_bytes = get16(value + 6);
        }
        if (number == INFO_KPARAM && size >= 12 && get16(value + 4) < CUBIN_PARAMS) {
            const unsigned i = get16(value + 4);
            c->params[i] = (struct cubin_param){ get16(value + 6), (uint16_t)(get32(value + 8) >> 18) };
            c->n_params = i + 1 > c->n_params ? i + 1 : c->n_params;
        }
        if (number == INFO_REGCOUNT && size >= 8 && get32(value) == symbol)
            c->registers = get32(value + 4);
        if (number == INFO_FRAME_SIZE && size >= 8 && get32(value) == symbol)
            c->frame = get32(value + 4);
        p = value + size;
    }
}

static uint32_t find_symbol(const struct elf *e, const char *kernel)
{
    const Elf64_Shdr *symbols = find_section(e, ".symtab", ""), *strings = find_section(e, ".strtab", "");
    const Elf64_Sym *all = symbols ? (const Elf64_Sym *)(e->data + symbols->sh_offset) : NULL;
    for (uint32_t i = 0; symbols && strings && i < symbols->sh_size / sizeof *all; i++) {
        const char *name = (const char *)e->data + strings->sh_offset + all[i].st_name;
        if (ELF64_ST_TYPE(all[i].st_info) == STT_FUNC && all[i].st_name + strlen(kernel) < strings->sh_size &&
            !strcmp(name, kernel))
            return i;
    }
    return 0;
}

// The order of the sequences in .debug_line is that of its relocations, which name the functions.
static size_t find_sequence(const struct elf *e, uint32_t symbol)
{
    const Elf64_Shdr *s = find_section(e, ".rela.debug_line", "");
    const Elf64_Rela *all = s ? (const Elf64_Rela *)(e->data + s->sh_offset) : NULL;
    for (size_t i = 0; s && i < s->sh_size / sizeof *all; i++)
        if (ELF64_R_SYM(all[i].r_info) == symbol)
            return i;
    return SIZE_MAX;
}

static bool read_code(struct cubin *c, const struct elf *e, const Elf64_Shdr *text)
{
    c->n = (uint32_t)(text->sh_size / SASS_BYTES);
    c->code = calloc(c->n + 1, sizeof *c->code);
    c->file = calloc(c->n + 1, sizeof *c->file);
    if (!c->code || !c->file)
        return false;
    for (uint32_t i = 0; i < c->n; i++) {
        uint64_t words[2];
        memcpy(words, e->data + text->sh_offset + (size_t)i * SASS_BYTES, sizeof words);
        sass_decode(words[0], words[1], c->cc, &c->code[i]);
    }
    return true;
}

// Bits 0-7 of the flags, or 8-15 in newer files, hold the compute capability.
static int capability(const struct elf *e)
{
    const int low = (int)(e->head->e_flags & 0xff), high = (int)(e->head->e_flags >> 8 & 0xff);
    return e->head->e_ident[EI_ABIVERSION] >= 8 ? high : low;
}

// The kernel's machine code; NULL: it is not there.
static const Elf64_Shdr *open_kernel(struct elf *e, const unsigned char *data, size_t bytes, const char *kernel,
                                     char error[200])
{
    if (!open_elf(e, data, bytes, error))
        return NULL;
    const Elf64_Shdr *text = find_section(e, ".text.", kernel);
    if (!text)
        fail(error, "the cubin has no kernel ", kernel);
    return text;
}

size_t cubin_find_code(const unsigned char *data, size_t bytes, const char *kernel, size_t *at, char error[200])
{
    struct elf e;
    const Elf64_Shdr *text = open_kernel(&e, data, bytes, kernel, error);
    *at = text ? text->sh_offset : 0;
    return text ? text->sh_size : 0;
}

struct cubin *cubin_read(const unsigned char *data, size_t bytes, const char *kernel, char error[200])
{
    struct elf e;
    const Elf64_Shdr *text = open_kernel(&e, data, bytes, kernel, error);
    if (!text)
        return NULL;
    const Elf64_Shdr *shared = find_section(&e, ".nv.shared.", kernel);
    struct cubin *c = calloc(1, sizeof *c);
    if (c)
        c->cc = capability(&e);
    if (!c || !read_code(c, &e, text)) {
        fail(error, "out of memory", "");
        cubin_free(c);
        return NULL;
    }
    const uint32_t symbol = find_symbol(&e, kernel);
    c->registers = text->sh_info >> 24;
    c->shared = shared ? (unsigned)shared->sh_size : 0;
    read_info(c, &e, find_section(&e, ".nv.info", ""), symbol);
    read_info(c, &e, find_section(&e, ".nv.info.", kernel), symbol);
    const Elf64_Shdr *lines = find_section(&e, ".debug_line", "");
    if (lines)
        cubin_read_lines(c, e.data + lines->sh_offset, lines->sh_size, find_sequence(&e, symbol));
    return c;
}

void cubin_free(struct cubin *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->n_files; i++)
        free(c->files[i]);
    free(c->files);
    free(c->file);
    free(c->code);
    free(c);
}
