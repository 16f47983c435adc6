// SPDX-License-Identifier: Apache-2.0
#include "device/target.h"

namespace rlx {

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
