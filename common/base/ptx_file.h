// Reading PTX files, for the device layer and for the program `simt`.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

// The text of the file at path, ended by a NUL that is not counted in *bytes; the caller frees it. NULL, with one line
// in error, for a file that is missing, no regular file, larger than 64 MiB, or no text (ptx_text_ok).
char *ptx_file_read(const char *path, size_t *bytes, char error[DEV_ERROR_MAX]);

// Is this text at all? False, with one line in error, if there is none or it holds a NUL byte.
bool ptx_text_ok(const char *name, const char *text, size_t bytes, char error[DEV_ERROR_MAX]);

// The GPU that a PTX text asks for by its .target: 80 for "sm_80"; 0 if the text does not say. *alone: it is for that
// GPU alone, and not for newer ones ("sm_90a"). Source: PTX ISA, .target.
unsigned ptx_text_target(const char *text, bool *alone);

// The GPU that a PTX file is for alone: 90 for "sm_90a"; 0 if it is for newer ones, too, or cannot be read.
unsigned ptx_file_alone(const char *path);

// What compiled a PTX file, by the comment at its beginning: "nvcc 13.0", "clang", or "" if that does not say.
enum { PTX_COMPILER = 32 };
const char *ptx_file_compiler(const char *path, char name[PTX_COMPILER]);

// The path of the i-th source file, from 0 on, that the line information of a PTX file names. False: there are fewer.
enum { PTX_SOURCE = 1024 };
bool ptx_file_source(const char *ptx, unsigned i, char path[PTX_SOURCE]);

// Whether a source file was changed after the PTX file was made; false as well where either cannot be read.
bool ptx_file_is_older(const char *ptx, const char *source);
