// SPDX-License-Identifier: Apache-2.0
// `rlx ops [NAME]`: the op catalogue, printed from the op records (issue 3).
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "cli/ops.h"
#include "ir/op_def.h"
#include "ops/parse.h"

using namespace rlx;
using nlohmann::json;

TEST_CASE("the catalogue lists every op once, in the order of the enum") {
  const json all = json::parse(cli::ops_json());
  REQUIRE(all.size() == kOpCount);
  const std::string text = "\n" + cli::ops_text();
  for (size_t i = 0; i < kOpCount; ++i) {
    const OpDef& def = op_def(static_cast<OpKind>(i));
    CHECK(all[i].at("name") == op_name(def.op));
    CHECK(all[i].at("doc") == def.doc);
    CHECK(all[i].at("operands").size() == def.operands.size());
    CHECK(all[i].at("attributes").size() == def.attrs.size());
    CHECK(text.find("\n" + std::string(op_name(def.op))) != std::string::npos);
  }
}

TEST_CASE("one op comes with its attributes, defaults and samples") {
  const json op = json::parse(cli::ops_json("attention"));
  CHECK(op.at("kind") == "composite");
  CHECK(op.at("class") == "compute");
  CHECK(op.at("attributes")[0] == json{{"name", "heads"}, {"type", "int"}});
  CHECK(op.at("attributes")[5] == json{{"name", "causal"}, {"type", "bool"}, {"default", true}});
  REQUIRE(op.at("samples").size() == op_def(OpKind::Attention).samples.size());
  for (const json& sample : op.at("samples")) {
    CHECK_NOTHROW(parse_graph(sample.at("graph").get<std::string>()));
  }
  CHECK(json::parse(cli::ops_json("max")).at("samples")[0].at("expected")[2] == "nan");
  const std::string text = cli::ops_text("top_k");
  CHECK(text.rfind("top_k %x {k: int, axis: int} -> 2 results\n", 0) == 0);
  CHECK(text.find("gives [1, 3, 2]") != std::string::npos);
}

TEST_CASE("no line of the catalogue is wider than 100 columns") {
  const std::string text = cli::ops_text();
  for (size_t start = 0; start < text.size();) {
    const size_t end = text.find('\n', start);
    CHECK(end - start <= 100);
    start = end + 1;
  }
}

TEST_CASE("an unknown op is an Error that lists near names") {
  const auto message = [](std::string_view name) {
    try {
      cli::ops_text(name);
    } catch (const Error& e) {
      CHECK(e.code() == ErrorCode::NotFound);
      return e.message();
    }
    return std::string();
  };
  CHECK(message("sofmax") == "there is no op 'sofmax', near it: softmax");
  CHECK(message("norm").find("rms_norm, layer_norm") != std::string::npos);
  CHECK(message("zzzzzzzz") == "there is no op 'zzzzzzzz'; `rlx ops` lists them all");
  CHECK(message(std::string(100000, 'a')).size() < 100);
}
