// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "backends_check.h"
#include "base/error.h"

using namespace rlx;
using namespace rlx::test;

TEST_CASE("cpu target: names are unique, and every row can be asked") {
  for (const Target& target : cpu_targets()) {
    CHECK(target.name == "cpu");
    CHECK(target.quantize_activations == (target.isa == "v4_vnni"));
    std::set<std::string> names;
    for (const KernelRow& row : target.kernels) {
      CHECK_MESSAGE(names.insert(row.name).second, row.name);
      CHECK((row.refuse != nullptr));
      CHECK(row.by_reference == (row.run == nullptr));
      CHECK(row.by_reference == (row.items == nullptr));
    }
  }
}

TEST_CASE("cpu target: every op but leaves ends with its reference, which takes primitives only") {
  const Target target = cpu_target({});
  for (size_t i = 0; i < kOpCount; ++i) {
    const auto op = static_cast<OpKind>(i);
    if (is_leaf(op)) continue;
    CAPTURE(op_name(op));
    const KernelRow* last = nullptr;
    for (const KernelRow& row : target.kernels) {
      if (row.op == op) last = &row;
    }
    REQUIRE(last != nullptr);
    CHECK(last->by_reference);
    Node node;
    node.op = op;
    const bool taken = last->refuse({node, {}, {}}).empty();
    CHECK(taken == (op_def(op).reference != nullptr));
  }
}

TEST_CASE("cpu target: the default is the best level; others are refused by name") {
  CHECK(cpu_target({}).isa == cpu_targets().back().isa);
  const std::string all = [] {
    std::string list;
    for (const Target& t : cpu_targets()) list += (list.empty() ? "" : ", ") + t.isa;
    return list;
  }();
  const std::string unknown = "isa: \"avx9\" does not exist; this processor has " + all;
  CHECK_THROWS_WITH_AS(cpu_target({"avx9"}), unknown.c_str(), Error);
  if (cpu::detect_isa() != cpu::Isa::V4Vnni) {
    const std::string lacking = "isa: this processor lacks v4_vnni; it has " + all;
    CHECK_THROWS_WITH_AS(cpu_target({"v4_vnni"}), lacking.c_str(), Error);
  }
}

TEST_CASE("cpu target: refusals say what was found and what is taken") {
  const Target target = cpu_target({});
  RunOptions options;
  options.allow_reference = true;
  const auto x = tensor_of<int32_t>(DType::I32, {2}, {1, 2});
  KernelRunner add(target, OpKind::Add, {}, {x, x}, options);
  CHECK(add.row().name == "add.reference");
  REQUIRE(add.refusals.size() == 1);
  CHECK(add.refusals[0] == "add." + target.isa + ": operand 0 is i32, this kernel takes f32");
  KernelRunner cast(target, OpKind::Cast, {{AttrKey::To, AttrValue::of_dtype(DType::F16)}}, {x},
                    options);
  REQUIRE(cast.refusals.size() == 1);
  CHECK(cast.refusals[0] == "cast." + target.isa + ": i32 to f16 is not vectorised");
}
