// SPDX-License-Identifier: Apache-2.0
#include "ir/attrs.h"

#include <array>

#include "base/error.h"

namespace rlx {
namespace {

struct AttrRow {
  std::string_view name;
  AttrKind kind;
};

constexpr std::array kAttrs = {
#define X(name, text, kind) AttrRow{text, AttrKind::kind},
    RLX_ATTRS(X)
#undef X
};

}  // namespace

std::string_view attr_name(AttrKey key) { return kAttrs[static_cast<size_t>(key)].name; }

AttrKind attr_kind(AttrKey key) { return kAttrs[static_cast<size_t>(key)].kind; }

std::optional<AttrKey> attr_from_name(std::string_view name) {
  for (size_t i = 0; i < kAttrs.size(); ++i) {
    if (kAttrs[i].name == name) return static_cast<AttrKey>(i);
  }
  return std::nullopt;
}

AttrValue AttrValue::of_int(int64_t v) {
  AttrValue a;
  a.i = v;
  return a;
}

AttrValue AttrValue::of_float(double v) {
  AttrValue a;
  a.kind = AttrKind::Float;
  a.f = v;
  return a;
}

AttrValue AttrValue::of_bool(bool v) {
  AttrValue a;
  a.kind = AttrKind::Bool;
  a.i = v ? 1 : 0;
  return a;
}

AttrValue AttrValue::of_string(std::string v) {
  AttrValue a;
  a.kind = AttrKind::String;
  a.s = std::move(v);
  return a;
}

AttrValue AttrValue::of_ints(std::vector<int64_t> v) {
  AttrValue a;
  a.kind = AttrKind::Ints;
  a.ints = std::move(v);
  return a;
}

AttrValue AttrValue::of_dim(Dim v) {
  AttrValue a;
  a.kind = AttrKind::Dim;
  a.dims = {v};
  return a;
}

AttrValue AttrValue::of_dims(Shape v) {
  AttrValue a;
  a.kind = AttrKind::Dims;
  a.dims = std::move(v);
  return a;
}

AttrValue AttrValue::of_dtype(DType v) {
  AttrValue a;
  a.kind = AttrKind::DType;
  a.i = static_cast<int64_t>(v);
  return a;
}

Attrs::Attrs(std::initializer_list<Entry> entries) {
  for (const Entry& e : entries) set(e.key, e.value);
}

const AttrValue* Attrs::find(AttrKey key) const {
  for (const Entry& e : entries_) {
    if (e.key == key) return &e.value;
  }
  return nullptr;
}

void Attrs::set(AttrKey key, AttrValue value) {
  RLX_CHECK(value.kind == attr_kind(key));
  auto it = entries_.begin();
  while (it != entries_.end() && it->key < key) ++it;
  if (it != entries_.end() && it->key == key) {
    it->value = std::move(value);
  } else {
    entries_.insert(it, Entry{key, std::move(value)});
  }
}

const AttrValue& Attrs::at(AttrKey key) const {
  const AttrValue* value = find(key);
  RLX_CHECK(value != nullptr);
  return *value;
}

}  // namespace rlx
