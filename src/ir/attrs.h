// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/dim.h"
#include "ir/dtype.h"

namespace rlx {

/// What an attribute holds.
enum class AttrKind : uint8_t { Int, Float, Bool, String, Ints, Dim, Dims, DType };

/// X(enumerator, spelling, kind): the one vocabulary of attributes, shared by all ops.
#define RLX_ATTRS(X)                    \
  X(Activation, "activation", String)   \
  X(Approximate, "approximate", String) \
  X(At, "at", Dim)                      \
  X(Axes, "axes", Ints)                 \
  X(Axis, "axis", Int)                  \
  X(Causal, "causal", Bool)             \
  X(Dtype, "dtype", DType)              \
  X(Eps, "eps", Float)                  \
  X(Exclusive, "exclusive", Bool)       \
  X(Heads, "heads", Int)                \
  X(High, "high", Dims)                 \
  X(K, "k", Int)                        \
  X(KeepDims, "keep_dims", Bool)        \
  X(KvHeads, "kv_heads", Int)           \
  X(Low, "low", Dims)                   \
  X(Magnitude, "magnitude", Float)      \
  X(Perm, "perm", Ints)                 \
  X(Scale, "scale", Float)              \
  X(Shape, "shape", Dims)               \
  X(Sizes, "sizes", Dims)               \
  X(Softcap, "softcap", Float)          \
  X(Starts, "starts", Dims)             \
  X(Strides, "strides", Ints)           \
  X(Style, "style", String)             \
  X(To, "to", DType)                    \
  X(Value, "value", Float)              \
  X(Window, "window", Int)

enum class AttrKey : uint8_t {
#define X(name, ...) name,
  RLX_ATTRS(X)
#undef X
};

std::string_view attr_name(AttrKey key);
AttrKind attr_kind(AttrKey key);
std::optional<AttrKey> attr_from_name(std::string_view name);

/// One attribute's value; `kind` says which member counts.
struct AttrValue {
  AttrKind kind = AttrKind::Int;
  int64_t i = 0;  ///< Int, Bool (0 or 1), DType (its enumerator)
  double f = 0;
  std::string s;
  std::vector<int64_t> ints;
  Shape dims;  ///< Dims, and Dim as its only entry

  static AttrValue of_int(int64_t v);
  static AttrValue of_float(double v);
  static AttrValue of_bool(bool v);
  static AttrValue of_string(std::string v);
  static AttrValue of_ints(std::vector<int64_t> v);
  static AttrValue of_dim(Dim v);
  static AttrValue of_dims(Shape v);
  static AttrValue of_dtype(DType v);
  friend bool operator==(const AttrValue&, const AttrValue&) = default;
};

/// The attributes of one node, ordered by key. Getters demand presence: an OpDef's defaults are
/// filled in before anyone reads them.
class Attrs {
 public:
  struct Entry {
    AttrKey key;
    AttrValue value;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  Attrs() = default;
  Attrs(std::initializer_list<Entry> entries);

  const AttrValue* find(AttrKey key) const;
  void set(AttrKey key, AttrValue value);
  const std::vector<Entry>& entries() const { return entries_; }

  int64_t get_int(AttrKey key) const { return at(key).i; }
  double get_float(AttrKey key) const { return at(key).f; }
  bool get_bool(AttrKey key) const { return at(key).i != 0; }
  const std::string& get_string(AttrKey key) const { return at(key).s; }
  const std::vector<int64_t>& get_ints(AttrKey key) const { return at(key).ints; }
  const Dim& get_dim(AttrKey key) const { return at(key).dims.front(); }
  const Shape& get_dims(AttrKey key) const { return at(key).dims; }
  DType get_dtype(AttrKey key) const { return static_cast<DType>(at(key).i); }
  friend bool operator==(const Attrs&, const Attrs&) = default;

 private:
  const AttrValue& at(AttrKey key) const;
  std::vector<Entry> entries_;
};

}  // namespace rlx
