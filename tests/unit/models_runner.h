// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "../support/gguf_writer.h"
#include "models/language_model.h"
#include "ops/oracle.h"

namespace rlx::test {

using Rows = std::vector<std::vector<double>>;

inline std::string model_path(const std::string& name) {
  return std::string(RLX_TEST_DATA) + "/models/" + name;
}

/// One entry of "cases" in a reference file (tests/models/make_reference.py).
struct ReferenceCase {
  int64_t context;
  std::vector<int64_t> ids;
  Rows logits;
};

inline std::vector<ReferenceCase> reference_cases(const std::string& name) {
  std::ifstream file(model_path(name + ".json"));
  if (!file) throw std::runtime_error("no reference for " + name);
  std::vector<ReferenceCase> cases;
  const nlohmann::json document = nlohmann::json::parse(file);
  for (const auto& item : document.at("cases")) {
    cases.push_back(
        {item["context"], item["ids"].get<std::vector<int64_t>>(), item["logits"].get<Rows>()});
  }
  if (cases.empty()) throw std::runtime_error("no cases for " + name);
  return cases;
}

inline OracleTensor i32_tensor(const std::vector<int64_t>& values) {
  OracleTensor tensor;
  tensor.dtype = DType::I32;
  tensor.shape = {static_cast<int64_t>(values.size())};
  tensor.data.assign(values.begin(), values.end());
  return tensor;
}

/// Logits at every position, by the oracle, `batch` tokens a call (0: all at once).
inline Rows oracle_logits(const Graph& graph, const std::vector<int64_t>& ids, size_t batch = 0) {
  if (batch == 0) batch = ids.size();
  Rows out;
  OracleRun run;
  for (size_t at = 0; at < ids.size(); at += batch) {
    const size_t end = std::min(ids.size(), at + batch);
    const std::vector<int64_t> part(ids.begin() + static_cast<int64_t>(at),
                                    ids.begin() + static_cast<int64_t>(end));
    std::vector<int64_t> rows(part.size());
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int64_t>(i);
    const auto count = static_cast<int64_t>(part.size());
    run.symbols = {count, static_cast<int64_t>(at), count};
    run.inputs = {{"ids", i32_tensor(part)}, {"rows", i32_tensor(rows)}};
    const OracleTensor logits = evaluate(graph, run)[0];
    const int64_t width = logits.shape[1];
    for (int64_t i = 0; i < count; ++i) {
      out.emplace_back(logits.data.begin() + i * width, logits.data.begin() + (i + 1) * width);
    }
  }
  return out;
}

/// The largest difference relative to the largest magnitude.
inline double difference(const Rows& a, const Rows& b) {
  if (a.size() != b.size()) return 1e300;
  double worst = 0, scale = 1e-30;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].size() != b[i].size()) return 1e300;
    for (size_t j = 0; j < a[i].size(); ++j) {
      if (!(std::abs(a[i][j] - b[i][j]) < 1e300)) return 1e300;
      worst = std::max(worst, std::abs(a[i][j] - b[i][j]));
      scale = std::max(scale, std::abs(b[i][j]));
    }
  }
  return worst / scale;
}

/// A writer holding what `checkpoint` (a GGUF file) holds, but for keys and tensors whose names
/// `drop` says true to. Number keys get their widest type.
inline GgufWriter copy_of(const Checkpoint& checkpoint,
                          const std::function<bool(std::string_view)>& drop) {
  GgufWriter out;
  for (const Metadata::Entry& entry : checkpoint.metadata().entries()) {
    if (drop(entry.key)) continue;
    if (const auto integer = entry.value.to_u64()) {
      out.add(entry.key, *integer);
    } else if (const auto real = entry.value.to_f64()) {
      out.add(entry.key, *real);
    } else if (const auto flag = entry.value.to_bool()) {
      out.add(entry.key, *flag);
    } else if (const auto text = entry.value.to_string()) {
      out.add(entry.key, *text);
    }
  }
  for (const CheckpointTensor& tensor : checkpoint.tensors()) {
    if (drop(tensor.name)) continue;
    const auto* bytes = reinterpret_cast<const char*>(tensor.bytes.data());
    out.add_tensor(tensor.name, {tensor.shape.begin(), tensor.shape.end()},
                   static_cast<uint32_t>(dtype_info(tensor.dtype).ggml_id),
                   std::string(bytes, tensor.bytes.size()));
  }
  return out;
}

}  // namespace rlx::test
