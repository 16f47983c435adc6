// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace rlx {

/// What may be done with a type's values. Only Float storage may be retargeted by a policy; `cast`
/// is not defined on Packed, so no pass can widen packed weights by mistake.
enum class DTypeClass : uint8_t { Float, Int, Bool, Complex, Packed };

/// X(enumerator, text name, class, elements per block, bytes per block, ggml type id or -1)
/// Packed blocks run along the last axis. The ggml ids and sizes are those of the GGUF format.
#define RLX_DTYPES(X)                        \
  X(F64, "f64", Float, 1, 8, 28)             \
  X(F32, "f32", Float, 1, 4, 0)              \
  X(F16, "f16", Float, 1, 2, 1)              \
  X(BF16, "bf16", Float, 1, 2, 30)           \
  X(F8E4M3, "f8e4m3", Float, 1, 1, -1)       \
  X(F8E5M2, "f8e5m2", Float, 1, 1, -1)       \
  X(I8, "i8", Int, 1, 1, 24)                 \
  X(I16, "i16", Int, 1, 2, 25)               \
  X(I32, "i32", Int, 1, 4, 26)               \
  X(I64, "i64", Int, 1, 8, 27)               \
  X(U8, "u8", Int, 1, 1, -1)                 \
  X(U16, "u16", Int, 1, 2, -1)               \
  X(U32, "u32", Int, 1, 4, -1)               \
  X(U64, "u64", Int, 1, 8, -1)               \
  X(Bool, "bool", Bool, 1, 1, -1)            \
  X(C64, "c64", Complex, 1, 8, -1)           \
  X(C128, "c128", Complex, 1, 16, -1)        \
  X(Q1_0, "q1_0", Packed, 128, 18, 41)       \
  X(Q2_0, "q2_0", Packed, 64, 18, 42)        \
  X(Q4_0, "q4_0", Packed, 32, 18, 2)         \
  X(Q4_1, "q4_1", Packed, 32, 20, 3)         \
  X(Q5_0, "q5_0", Packed, 32, 22, 6)         \
  X(Q5_1, "q5_1", Packed, 32, 24, 7)         \
  X(Q8_0, "q8_0", Packed, 32, 34, 8)         \
  X(Q8_1, "q8_1", Packed, 32, 36, 9)         \
  X(Q2_K, "q2_k", Packed, 256, 84, 10)       \
  X(Q3_K, "q3_k", Packed, 256, 110, 11)      \
  X(Q4_K, "q4_k", Packed, 256, 144, 12)      \
  X(Q5_K, "q5_k", Packed, 256, 176, 13)      \
  X(Q6_K, "q6_k", Packed, 256, 210, 14)      \
  X(Q8_K, "q8_k", Packed, 256, 292, 15)      \
  X(IQ1_S, "iq1_s", Packed, 256, 50, 19)     \
  X(IQ1_M, "iq1_m", Packed, 256, 56, 29)     \
  X(IQ2_XXS, "iq2_xxs", Packed, 256, 66, 16) \
  X(IQ2_XS, "iq2_xs", Packed, 256, 74, 17)   \
  X(IQ2_S, "iq2_s", Packed, 256, 82, 22)     \
  X(IQ3_XXS, "iq3_xxs", Packed, 256, 98, 18) \
  X(IQ3_S, "iq3_s", Packed, 256, 110, 21)    \
  X(IQ4_NL, "iq4_nl", Packed, 32, 18, 20)    \
  X(IQ4_XS, "iq4_xs", Packed, 256, 136, 23)  \
  X(TQ1_0, "tq1_0", Packed, 256, 54, 34)     \
  X(TQ2_0, "tq2_0", Packed, 256, 66, 35)     \
  X(MXFP4, "mxfp4", Packed, 32, 17, 39)      \
  X(NVFP4, "nvfp4", Packed, 64, 36, 40)      \
  X(Q15, "q15", Packed, 32, 72, -1)

/// Element types of tensors. Q15 is this project's own activation format (quant/q15.h).
enum class DType : uint8_t {
#define X(name, ...) name,
  RLX_DTYPES(X)
#undef X
};

/// One row of the type table.
struct DTypeInfo {
  DType dtype;
  std::string_view name;  ///< spelling in the IR's text form
  DTypeClass type_class;
  uint32_t block_elements;  ///< 1 for every class but Packed
  uint32_t block_bytes;
  int ggml_id;  ///< tensor type number in GGUF files, -1 if the format has none
};

/// The row of `dtype`; total.
const DTypeInfo& dtype_info(DType dtype);
/// All rows, in enum order.
std::span<const DTypeInfo> all_dtypes();
/// The type of that name or ggml type number, if there is one.
std::optional<DType> dtype_from_name(std::string_view name);
std::optional<DType> dtype_from_ggml(uint32_t ggml_id);

inline std::string_view dtype_name(DType d) { return dtype_info(d).name; }
inline bool is_float(DType d) { return dtype_info(d).type_class == DTypeClass::Float; }
inline bool is_int(DType d) { return dtype_info(d).type_class == DTypeClass::Int; }
inline bool is_packed(DType d) { return dtype_info(d).type_class == DTypeClass::Packed; }

}  // namespace rlx
