// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "ops/oracle.h"

// Reading tests/data/ops_cases.json: graphs, inputs, and what NumPy says comes out.
namespace rlx::test {

inline std::vector<double> numbers(const nlohmann::json& list) {
  std::vector<double> out;
  for (const nlohmann::json& v : list) {
    if (v.is_string()) {
      const std::string s = v;
      out.push_back(s == "nan" ? NAN : s == "inf" ? INFINITY : -INFINITY);
    } else {
      out.push_back(v.get<double>());
    }
  }
  return out;
}

inline std::vector<std::byte> bytes_of_hex(const std::string& hex) {
  std::vector<std::byte> out;
  for (size_t i = 0; i < hex.size(); i += 2) {
    out.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return out;
}

inline OracleTensor tensor_of(const nlohmann::json& j, DType dtype) {
  OracleTensor t;
  t.dtype = dtype;
  t.shape = j.at("shape").get<std::vector<int64_t>>();
  if (j.contains("hex")) {
    t.packed = bytes_of_hex(j.at("hex"));
  } else {
    t.data = numbers(j.at("data"));
  }
  return t;
}

inline nlohmann::json load_cases() {
  const std::string path = std::string(RLX_TEST_DATA) + "/ops_cases.json";
  std::ifstream file(path);
  if (!file.good()) throw std::runtime_error("cannot read " + path);
  return nlohmann::json::parse(file);
}

}  // namespace rlx::test
