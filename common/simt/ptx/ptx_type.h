// The types of PTX: PTX ISA 9.0, section 5.2.
#pragma once

#include "base/str.h"

// clang-format off
enum ptx_type {
    PTX_NONE, PTX_PRED,
    PTX_U8, PTX_U16, PTX_U32, PTX_U64,
    PTX_S8, PTX_S16, PTX_S32, PTX_S64,
    PTX_B8, PTX_B16, PTX_B32, PTX_B64, PTX_B128,
    PTX_F16, PTX_F16X2, PTX_BF16, PTX_BF16X2, PTX_TF32, PTX_F32, PTX_F64,
    PTX_TYPES
};
// clang-format on

uint32_t ptx_type_bytes(enum ptx_type t);       // 0 for none and predicates
enum ptx_type ptx_type_named(struct str name);  // "f32" -> PTX_F32, PTX_NONE for others
const char *ptx_type_name(enum ptx_type t);
