// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "ir/print.h"
#include "models_runner.h"
#include "ops/parse.h"
#include "ops/verify.h"

using namespace rlx;
using namespace rlx::test;

namespace {

const char* const models[] = {"gemma",         "gemma2",       "gemma3",    "gpt2",       "llama",
                              "llama_factors", "llama_linear", "llama_moe", "llama_yarn", "mistral",
                              "phi3",          "qwen2",        "qwen3",     "qwen3moe"};

/// Gemma 1 and 2 have no Hugging Face folder.
bool has_folder(const std::string& name) { return name != "gemma" && name != "gemma2"; }

LanguageModel build(const std::string& path, int64_t context) {
  return build_language_model(Checkpoint::open(path), {.context = context, .kv = DType::F32});
}

/// Without the locations behind '#', which the parser skips.
std::string without_comments(const std::string& text) {
  std::string out;
  bool comment = false;
  for (const char c : text) {
    if (c == '#') {
      comment = true;
      while (!out.empty() && out.back() == ' ') out.pop_back();
    }
    if (c == '\n') comment = false;
    if (!comment) out += c;
  }
  return out;
}

}  // namespace

// Issue 3, part 3: tiny random-weight files against tests/models/forward.py.
TEST_CASE("models: logits of every architecture are those of the independent reference") {
  for (const std::string name : models) {
    for (const ReferenceCase& expected : reference_cases(name)) {
      CAPTURE(name);
      CAPTURE(expected.context);
      const LanguageModel gguf = build(model_path(name + ".gguf"), expected.context);
      CHECK(difference(oracle_logits(gguf.graph, expected.ids), expected.logits) < 1e-5);
      if (!has_folder(name)) continue;
      const LanguageModel folder = build(model_path(name), expected.context);
      CHECK(difference(oracle_logits(folder.graph, expected.ids), expected.logits) < 1e-5);
    }
  }
}

TEST_CASE("models: one by one and in batches of 5 as all at once") {
  for (const std::string name : models) {
    CAPTURE(name);
    const ReferenceCase expected = reference_cases(name).back();
    const LanguageModel model = build(model_path(name + ".gguf"), expected.context);
    const Rows whole = oracle_logits(model.graph, expected.ids);
    CHECK(difference(oracle_logits(model.graph, expected.ids, 1), whole) < 1e-9);
    CHECK(difference(oracle_logits(model.graph, expected.ids, 5), whole) < 1e-9);
  }
}

TEST_CASE("models: graphs verify and their text parses back to the same graph") {
  for (const std::string name : models) {
    for (const std::string& path : {model_path(name), model_path(name + ".gguf")}) {
      CAPTURE(path);
      if (path == model_path(name) && !has_folder(name)) continue;
      const LanguageModel model = build(path, 0);
      verify(model.graph);
      const std::string text = print(model.graph);
      const Graph parsed = parse_graph(text);
      CHECK(without_comments(print(parsed)) == without_comments(text));
      CHECK(signature_of(parsed) == signature_of(model.graph));
    }
  }
}

TEST_CASE("models: the signature the engine relies on") {
  const auto checkpoint = Checkpoint::open(model_path("qwen3.gguf"));
  const LanguageModel model = build_language_model(
      checkpoint, {.context = 40, .max_batch = 512, .max_rows = 3, .kv = DType::F16});
  CHECK(model.architecture == "qwen3");
  CHECK(model.vocabulary == 64);
  CHECK(model.context == 40);
  CHECK(model.trained_context == 64);
  CHECK(model.kv_bytes == 2 * 2 * 40 * 24 * 2);
  const Graph& g = model.graph;
  REQUIRE(g.symbols().size() == 3);
  CHECK(g.symbols()[0].name == "T");
  CHECK(g.symbols()[0].bound == 40);
  CHECK(g.symbols()[1].name == "P");
  CHECK(g.symbols()[1].bound == 39);
  CHECK(g.symbols()[2].name == "R");
  CHECK(g.symbols()[2].bound == 3);
  REQUIRE(g.outputs().size() == 1);
  CHECK(g.value_name(g.outputs()[0]) == "logits");
  CHECK(g.type(g.outputs()[0]) == TensorType{DType::F32, {g.dim("R"), Dim(64)}});
  CHECK(g.type(g.find("ids")) == TensorType{DType::I32, {g.dim("T")}});
  CHECK(g.type(g.find("rows")) == TensorType{DType::I32, {g.dim("R")}});
  for (const char* state : {"k.0", "v.0", "k.1", "v.1"}) {
    CHECK(g.type(g.find(state)) == TensorType{DType::F16, {Dim(40), Dim(24)}});
  }
  CHECK(g.leaves(OpKind::State).size() == 4);
  bool located = false;
  for (const NodeId id : g.order()) located |= g.node(id).location == "blk.1.attn_q";
  CHECK(located);
}

TEST_CASE("models: rows may be fewer than tokens, and in any order") {
  const ReferenceCase expected = reference_cases("llama")[0];
  const LanguageModel model = build(model_path("llama.gguf"), 0);
  OracleRun run;
  run.symbols = {12, 0, 2};
  run.inputs = {{"ids", i32_tensor(expected.ids)}, {"rows", i32_tensor({11, 4})}};
  const OracleTensor logits = evaluate(model.graph, run)[0];
  const Rows found = {{logits.data.begin(), logits.data.begin() + 64},
                      {logits.data.begin() + 64, logits.data.end()}};
  CHECK(difference(found, {expected.logits[11], expected.logits[4]}) < 1e-5);
}

TEST_CASE("models: weights stay in the mapping and keep it alive") {
  for (const std::string name : {"phi3.gguf", "gemma3", "qwen3moe.gguf"}) {
    CAPTURE(name);
    auto checkpoint = Checkpoint::open(model_path(name));
    std::vector<std::span<const std::byte>> sources;
    for (const CheckpointTensor& tensor : checkpoint->tensors()) sources.push_back(tensor.bytes);
    const LanguageModel model = build_language_model(checkpoint);
    const std::weak_ptr<const Checkpoint> watch = checkpoint;
    checkpoint.reset();
    CHECK_FALSE(watch.expired());
    for (const NodeId id : model.graph.leaves(OpKind::Weight)) {
      const auto bytes = model.graph.node(id).data.bytes;
      bool inside = false;
      for (const auto& source : sources) {
        inside |= bytes.data() >= source.data() &&
                  bytes.data() + bytes.size() <= source.data() + source.size();
      }
      CAPTURE(model.graph.node(id).names[0]);
      CHECK(inside);
    }
  }
}
