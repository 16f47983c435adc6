// SPDX-License-Identifier: Apache-2.0
#include "device/target.h"

namespace rlx {

RunExtent run_extent(const Dim& dim) {
  RunExtent e{};
  e.constant = dim.constant();
  for (const Dim::Term& t : dim.terms()) {
    e.symbols[e.count] = t.symbol;
    e.factors[e.count++] = t.factor;
  }
  return e;
}

const KernelRow* select_kernel(const Target& target, const KernelQuery& query,
                               std::vector<std::string>* refusals) {
  for (const KernelRow& row : target.kernels) {
    if (row.op != query.node.op) continue;
    const std::string reason = row.refuse(query);
    if (reason.empty()) return &row;
    if (refusals != nullptr) refusals->push_back(row.name + ": " + reason);
  }
  return nullptr;
}

}  // namespace rlx
