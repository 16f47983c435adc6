// SPDX-License-Identifier: Apache-2.0
#include "ops/records.h"

namespace rlx {
namespace {

OpDef leaf(OpKind op, std::string_view doc) {
  OpDef d;
  d.op = op;
  d.doc = doc;
  d.precision = PrecisionClass::Boundary;
  return d;
}

}  // namespace

template <>
OpDef make_op<OpKind::Input>() {
  return leaf(OpKind::Input, "A tensor the caller binds by name for every run.");
}

template <>
OpDef make_op<OpKind::Weight>() {
  return leaf(OpKind::Weight,
              "A tensor whose bytes come with the model: referenced where they lie, never copied "
              "by a pass.");
}

template <>
OpDef make_op<OpKind::Constant>() {
  OpDef d = leaf(OpKind::Constant, "A tensor whose numbers are part of the graph.");
  d.samples = {
      {"const %c : f32[4] = [1.0, -2.5, 0.0, inf] output %c", {1, -2.5, 0, __builtin_inf()}},
      {"const %c : bool[2] = [true, false] output %c", {1, 0}}};
  return d;
}

template <>
OpDef make_op<OpKind::State>() {
  OpDef d = leaf(OpKind::State,
                 "A tensor that lives from run to run, zeros at first; ops that update it say so.");
  d.samples = {{"state %s : f32[3] output %s", {0, 0, 0}},
               {"state %s : f32[2, 2] const %x : f32[1, 2] = [3.0, 4.0] "
                "%a = append %s, %x {at = 1} output %s",
                {0, 0, 3, 4}}};
  return d;
}

}  // namespace rlx
