// Fat binaries: where nvcc puts the kernels of an object file. NVIDIA does not document them; this was read from what
// nvcc 13 writes. A head of 16 bytes or more (at 6 its own bytes, at 8 those of all entries), then entries: at 0 the
// kind, at 4 the bytes of the entry's head, at 8 those of what follows it, at 16 those of it that are compressed, at 28
// the architecture, at 40 flags, at 56 the bytes once they are not compressed. A program linked with -rdc=true has one
// wrapper for all its object files, whose fat binaries are in a list.
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "cudart.h"

enum { FAT_PTX = 1, FAT_LZ4 = 0x2000, FAT_ZSTD = 0x8000, FAT_COMPRESSED = 0xb000 };

static uint64_t number(const unsigned char *at, size_t bytes)
{
    uint64_t n = 0;
    memcpy(&n, at, bytes);
    return n;
}

// --- Compressed entries ---

// The length that begins in a token's half, and goes on while bytes are 255.
static size_t lz4_length(size_t half, const unsigned char **p, const unsigned char *end)
{
    size_t n = half;
    unsigned char more = half == 15 ? 255 : 0;
    while (more == 255 && *p < end)
        n += more = *(*p)++;
    return n;
}

// A block of LZ4: literals, and copies of what came before. Source: lz4_Block_format.md of the project LZ4.
static bool lz4(unsigned char *to, size_t room, const unsigned char *p, size_t bytes)
{
    const unsigned char *const end = p + bytes;
    size_t n = 0;
    while (p < end) {
        const unsigned token = *p++;
        const size_t literals = lz4_length(token >> 4, &p, end);
        if (literals > (size_t)(end - p) || literals > room - n)
            return false;
        memcpy(to + n, p, literals);
        n += literals;
        p += literals;
        if (end - p < 2)
            break;  // the last literals have no copy behind them
        const size_t back = (size_t)number(p, 2);
        p += 2;
        const size_t copied = lz4_length(token & 15, &p, end) + 4;
        if (!back || back > n || copied > room - n)
            return false;
        for (const size_t stop = n + copied; n < stop; n++)
            to[n] = to[n - back];
    }
    return n == room;
}

// By the library that nearly every Linux has for its packages.
static bool zstd(unsigned char *to, size_t room, const unsigned char *from, size_t bytes, char error[DEV_ERROR_MAX])
{
    void *library = dlopen("libzstd.so.1", RTLD_NOW);
    void *found = library ? dlsym(library, "ZSTD_decompress") : NULL;
    if (!found)
        return error_set(error, "its PTX is compressed and libzstd.so.1 is not there: install it, or build with "
                                "nvcc -no-compress");
    size_t (*decompress)(void *, size_t, const void *, size_t) = (size_t(*)(void *, size_t, const void *, size_t))found;
    return decompress(to, room, from, bytes) == room || error_set(error, "its compressed PTX is damaged");
}

// The text of an entry, ended by a NUL; the caller frees it.
static char *read_text(const unsigned char *entry, uint64_t head, uint64_t bytes, char error[DEV_ERROR_MAX])
{
    const uint64_t flags = number(entry + 40, 8) & FAT_COMPRESSED;
    const uint64_t packed = flags ? number(entry + 16, 4) : bytes, size = flags ? number(entry + 56, 8) : bytes;
    unsigned char *text = calloc(1, size + 1);
    if (!text)
        error_set(error, "out of memory");
    else if (flags == FAT_ZSTD ? zstd(text, size, entry + head, packed, error)
             : flags == FAT_LZ4
                 ? lz4(text, size, entry + head, packed) || error_set(error, "its compressed PTX is damaged")
             : flags ? error_set(error, "its PTX is compressed in an unknown way: build with nvcc -no-compress")
                     : memcpy(text, entry + head, bytes) != NULL)
        return (char *)text;
    free(text);
    return NULL;
}

// --- The PTX of a wrapper ---

// The entry with the PTX for the newest architecture that the card can run; NULL: there is none.
static const unsigned char *best_entry(const unsigned char *fat)
{
    const unsigned char *best = NULL, *e = fat + number(fat + 6, 2), *end = e + number(fat + 8, 8);
    for (; e < end; e += number(e + 4, 4) + number(e + 8, 8)) {
        const uint64_t arch = number(e + 28, 4);
        if (number(e, 2) == FAT_PTX && arch <= (uint64_t)cudart_card()->cc && (!best || arch > number(best + 28, 4)))
            best = e;
    }
    return best;
}

// Adds the PTX of one fat binary to the text: each is a unit of it.
static bool add_text(const unsigned char *fat, struct cudart_ptx *to, char error[DEV_ERROR_MAX])
{
    const unsigned char *e = best_entry(fat);
    if (!e)
        return true;
    char *more = read_text(e, number(e + 4, 4), number(e + 8, 8), error);
    const size_t bytes = more ? strlen(more) : 0;
    char *all = more ? realloc(to->text, to->bytes + bytes + 2) : NULL;
    if (all) {
        snprintf(all + to->bytes, bytes + 2, "%s\n", more);
        to->text = all;
        to->bytes += bytes + 1;
        to->arch = (unsigned)number(e + 28, 4);
    }
    free(more);
    return all;
}

// --- What kernels may call of the device's own runtime, which a program is linked with as machine code ---

static const char set_conditional[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .func cudaGraphSetConditional(.param .b64 condition, .param .b32 value)\n"
    "{\n\t.reg .b32 %r<2>;\n\t.reg .b64 %rd<2>;\n"
    "\tld.param.u64 %rd1, [condition];\n\tld.param.u32 %r1, [value];\n"
    "\tst.global.u32 [%rd1], %r1;\n\tret;\n}\n";

static bool add_called(struct cudart_ptx *to, char error[DEV_ERROR_MAX])
{
    if (!cudart_textures(to))
        return error_set(error, "out of memory");
    if (!to->text || !strstr(to->text, ".extern .func cudaGraphSetConditional"))
        return true;
    char *all = realloc(to->text, to->bytes + sizeof set_conditional);
    if (!all)
        return error_set(error, "out of memory");
    memcpy(all + to->bytes, set_conditional, sizeof set_conditional);
    to->text = all;
    to->bytes += sizeof set_conditional - 1;
    return true;
}

// --- What a program loads by itself ---

enum { WRAPPER = 0x466243b1, FAT = (int)0xba55ed50, ELF = 0x464c457f };

static cudaError_t read_text_of(const char *text, struct cudart_ptx *out, char error[DEV_ERROR_MAX])
{
    const size_t bytes = strlen(text);
    const char *target = strstr(text, ".target sm_");
    out->text = malloc(bytes + 2);
    if (!out->text)
        return error_set(error, "out of memory"), cudaErrorMemoryAllocation;
    snprintf(out->text, bytes + 2, "%s\n", text);
    out->bytes = bytes + 1;
    out->arch = target ? (unsigned)strtoul(target + strlen(".target sm_"), NULL, 10) : 0;
    return cudaSuccess;
}

// It holds no PTX, or that of newer cards alone.
static bool no_ptx(const char *what, char error[DEV_ERROR_MAX])
{
    const int cc = cudart_card()->cc < 80 ? cudart_card()->cc : 80;
    return error_set(error,
                     "%s has no PTX that this card can run, %s: build it with -gencode arch=compute_%d,code=compute_%d",
                     what, cudart_card()->name, cc, cc);
}

cudaError_t cudart_read_image(const void *image, struct cudart_ptx *out, char error[DEV_ERROR_MAX])
{
    int magic = 0;
    memcpy(&magic, image, strnlen(image, sizeof magic));
    *out = (struct cudart_ptx){ 0 };
    if (magic == ELF)
        return error_set(error,
                         "it is machine code of a card (a cubin), and only PTX can be run: nvcc -ptx makes "
                         "that, or nvcc -fatbin -gencode arch=compute_80,code=compute_80, or nvrtcGetPTX of what "
                         "NVRTC compiled for compute_80"),
               cudaErrorNoKernelImageForDevice;
    if (magic != WRAPPER && magic != FAT) {
        const cudaError_t e = read_text_of(image, out, error);
        return !e && !add_called(out, error) ? cudaErrorMemoryAllocation : e;
    }
    const bool ok =
        magic == WRAPPER ? cudart_read_ptx(image, out, error) : add_text(image, out, error) && add_called(out, error);
    if (ok && !out->text)
        no_ptx("it", error);
    return ok && out->text ? cudaSuccess : cudaErrorNoKernelImageForDevice;
}

bool cudart_read_ptx(const void *wrapper, struct cudart_ptx *out, char error[DEV_ERROR_MAX])
{
    const struct {
        int magic, version;
        const unsigned char *data;
        const unsigned char *const *linked;  // version 2: fat binaries of object files, up to NULL
    } *w = wrapper;
    *out = (struct cudart_ptx){ 0 };
    bool ok = add_text(w->data, out, error);
    for (size_t i = 0; ok && w->version == 2 && w->linked && w->linked[i]; i++)
        ok = add_text(w->linked[i], out, error);
    ok = ok && add_called(out, error);
    if (ok && !out->text)
        ok = no_ptx("the program", error);
    return ok;
}
