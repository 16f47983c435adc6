// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "text/jinja/objects.h"

namespace rlx::text::jinja {

/// Takes an attribute such as 'a.b', 'a.0' or 3 from values, as filters' `attribute` arguments do.
class AttributeGetter {
 public:
  /// None gives the value itself; a missing attribute gives `otherwise` where one is set.
  explicit AttributeGetter(const Value& attribute, std::optional<Value> otherwise = std::nullopt);
  Value get(Interpreter& in, const Value& v) const;

 private:
  std::vector<Value> parts_;
  std::optional<Value> otherwise_;
};

/// The key that a filter sorts or compares by: an attribute, in lower case unless case counts.
class SortKey {
 public:
  SortKey(const Value& attribute, bool case_sensitive, std::optional<Value> otherwise = {});
  Value get(Interpreter& in, const Value& v) const;

 private:
  AttributeGetter getter_;
  bool case_sensitive_;
};

}  // namespace rlx::text::jinja
