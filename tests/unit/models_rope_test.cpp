// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>

#include "../support/temp_folder.h"
#include "models/rope_frequencies.h"
#include "models_runner.h"
#include "ops/builder.h"

using namespace rlx;
using namespace rlx::test;

namespace {

const std::vector<int64_t> ids = {3, 10, 17, 24, 31, 38, 45, 52, 59, 2, 9, 16, 23, 30};

/// Logits of a copy of `name`.gguf: keys of that name part dropped, others added by `change`, cut
/// to `layers` (0: all).
Rows logits_of(const std::string& name, std::string_view dropped, int64_t layers,
               const std::function<void(GgufWriter&)>& change, const std::vector<int64_t>& tokens,
               size_t batch = 0) {
  const TempFolder folder;
  const auto source = Checkpoint::open(model_path(name + ".gguf"));
  GgufWriter copy = copy_of(*source, [&](std::string_view key) {
    if (key.find(dropped) != std::string_view::npos) return true;
    if (layers == 0) return false;
    const bool behind = key.starts_with("blk.") && key[5] == '.' && key[4] - '0' >= layers;
    return behind || key.ends_with(".block_count");
  });
  if (layers > 0) copy.add(source->key("block_count"), static_cast<uint32_t>(layers));
  change(copy);
  copy.write(folder.path("m.gguf"));
  const LanguageModel model =
      build_language_model(Checkpoint::open(folder.path("m.gguf")), {.kv = DType::F32});
  return oracle_logits(model.graph, tokens, batch);
}

void nothing(GgufWriter&) {}

/// Norm over one rotated pair times the magnitude it must have.
std::vector<double> rotated_key_norms(const RopeFrequencies& rope) {
  Graph graph;
  graph.add_symbol("P", 1000);
  Builder b(graph);
  const auto pairs = static_cast<int64_t>(rope.inv_freq.size());
  const Value positions = b.op(OpKind::Iota, {}, {{AttrKey::Shape, AttrValue::of_dims({Dim(5)})}});
  const auto tables =
      b.ops(OpKind::RopeTable, {positions, b.constant(DType::F32, {pairs}, rope.inv_freq)},
            {{AttrKey::Magnitude, AttrValue::of_float(rope.magnitude)}});
  std::vector<double> key;
  for (int64_t i = 0; i < 5 * 2 * pairs; ++i) key.push_back(std::sin(static_cast<double>(i)) + 2);
  const Value y =
      b.op(OpKind::Rope, {b.constant(DType::F32, {5, 2 * pairs}, key), tables[0], tables[1]},
           {{AttrKey::Heads, AttrValue::of_int(1)}});
  graph.set_outputs({y});
  OracleRun run;
  run.symbols = {0};
  const OracleTensor out = evaluate(graph, run)[0];
  std::vector<double> ratios;
  for (int64_t t = 0; t < 5; ++t) {
    double before = 0, after = 0;
    for (int64_t i = 0; i < 2 * pairs; ++i) {
      const auto at = static_cast<size_t>(t * 2 * pairs + i);
      before += key[at] * key[at];
      after += out.data[at] * out.data[at];
    }
    ratios.push_back(std::sqrt(after / before));
  }
  return ratios;
}

}  // namespace

// Case llm-bugs/059: a window of W keys, not W + 1.
TEST_CASE("models: a window of W sees ids p-W+1 to p and no more") {
  constexpr int64_t window = 5;
  const std::vector<int64_t> tokens(ids.begin(), ids.begin() + 12);
  for (const size_t batch : {size_t{0}, size_t{1}}) {
    const Rows one_layer = logits_of("mistral", "no such key", 1, nothing, tokens, batch);
    for (const int64_t p : {window - 1, window, window + 1, 2 * window, 2 * window + 1}) {
      for (int64_t changed = 0; changed <= p; ++changed) {
        std::vector<int64_t> other = tokens;
        other[static_cast<size_t>(changed)] = 60;
        const Rows rows = logits_of("mistral", "no such key", 1, nothing, other, batch);
        const auto at = static_cast<size_t>(p);
        CAPTURE(p);
        CAPTURE(changed);
        CHECK((difference({rows[at]}, {one_layer[at]}) > 1e-6) == (changed > p - window));
      }
    }
  }
}

// Case llm-bugs/095: two rope bases, and a scale for the full layers only.
TEST_CASE("models: gemma3 scales the rope of full layers only") {
  const auto scale = [](double factor) {
    return [factor](GgufWriter& w) { w.add("gemma3.rope.scaling.factor", factor); };
  };
  const auto base = [](double value) {
    return [value](GgufWriter& w) { w.add("gemma3.rope.freq_base", value); };
  };
  const auto local = [](double value) {
    return [value](GgufWriter& w) { w.add("gemma3.rope.freq_base_swa", value); };
  };
  const Rows five = logits_of("gemma3", "scaling.factor", 5, scale(8), ids);
  CHECK(difference(logits_of("gemma3", "scaling.factor", 5, scale(2), ids), five) == 0);
  CHECK(difference(logits_of("gemma3", "rope.freq_base", 5, base(50), ids), five) == 0);
  CHECK(difference(logits_of("gemma3", "no such key", 5, local(10000), ids), five) == 0);
  CHECK(difference(logits_of("gemma3", "no such key", 5, local(300), ids), five) > 1e-4);
  const Rows six = logits_of("gemma3", "scaling.factor", 6, scale(8), ids);
  CHECK(difference(logits_of("gemma3", "scaling.factor", 6, scale(2), ids), six) > 1e-4);
  CHECK(difference(logits_of("gemma3", "rope.freq_base", 6, base(50), ids), six) > 1e-4);
}

TEST_CASE("models: gemma3 takes the pattern of windowed layers from the file") {
  const Rows usual = logits_of("gemma3", "no such key", 0, nothing, ids);
  const std::string key = "gemma3.attention.sliding_window_pattern";
  const auto number = [&](uint32_t n) { return [&, n](GgufWriter& w) { w.add(key, n); }; };
  const auto flags = [&](std::vector<uint8_t> f) {
    return [&, f](GgufWriter& w) { w.add_array(key, f); };
  };
  CHECK(difference(logits_of("gemma3", "no such key", 0, number(6), ids), usual) == 0);
  CHECK(difference(logits_of("gemma3", "no such key", 0, number(3), ids), usual) > 1e-4);
  CHECK(difference(logits_of("gemma3", "no such key", 0, flags({1, 1, 1, 1, 1, 0, 1}), ids),
                   usual) == 0);
  CHECK(difference(logits_of("gemma3", "no such key", 0, flags({0, 1, 1, 1, 1, 0, 1}), ids),
                   usual) > 1e-4);
}

// Case llm-bugs/097: YaRN's magnitude.
TEST_CASE("models: yarn makes a rotated key 1 + 0.1 ln(factor) times as long") {
  const RopeFrequencies rope = yarn_rope(10000, 64, {.factor = 4, .original_context = 128});
  for (const double ratio : rotated_key_norms(rope)) {
    CHECK(ratio == doctest::Approx(1 + 0.1 * std::log(4.0)).epsilon(1e-6));
  }
  for (const double ratio : rotated_key_norms(plain_rope(10000, 64))) {
    CHECK(ratio == doctest::Approx(1).epsilon(1e-6));
  }
}

TEST_CASE("models: yarn keeps fast pairs, slows slow ones by the factor, blends between") {
  const RopeFrequencies plain = plain_rope(10000, 64);
  const RopeFrequencies rope = yarn_rope(10000, 64, {.factor = 4, .original_context = 4096});
  // By hand: 4096 / (32 * 2 pi) = 20.37, 64 ln(20.37) / (2 ln 10000) = 10.47; 4096 / (2 pi) =
  // 651.9, giving 22.51: pairs to 10 stay, pairs from 23 are slowed by 4.
  for (size_t i = 0; i <= 10; ++i) CHECK(rope.inv_freq[i] == plain.inv_freq[i]);
  for (size_t i = 23; i < 32; ++i) {
    CHECK(rope.inv_freq[i] == doctest::Approx(plain.inv_freq[i] / 4).epsilon(1e-12));
  }
  CHECK(rope.inv_freq[12] == doctest::Approx(plain.inv_freq[12] * (1 - 0.75 * 2 / 13)));
}

TEST_CASE("models: a yarn factor of 1 is no scaling") {
  const RopeFrequencies plain = plain_rope(10000, 64);
  const RopeFrequencies rope = yarn_rope(10000, 64, {.factor = 1, .original_context = 128});
  CHECK(rope.inv_freq == plain.inv_freq);
  CHECK(rope.magnitude == 1);
  const Rows with = logits_of(
      "llama_yarn", "scaling.factor", 0,
      [](GgufWriter& w) { w.add("llama.rope.scaling.factor", 1.0); }, ids);
  CHECK(difference(with, logits_of("llama_yarn", "rope.scaling", 0, nothing, ids)) == 0);
}

TEST_CASE("models: rope.scaling.attn_factor multiplies the magnitude") {
  const auto checkpoint = Checkpoint::open(model_path("llama_yarn.gguf"));
  const double own = read_rope(*checkpoint, 8, 64).magnitude;
  CHECK(own == doctest::Approx(1 + 0.1 * std::log(4.0)));
  const TempFolder folder;
  GgufWriter copy = copy_of(*checkpoint, [](std::string_view) { return false; });
  copy.add("llama.rope.scaling.attn_factor", 0.5);
  copy.write(folder.path("m.gguf"));
  const auto changed = Checkpoint::open(folder.path("m.gguf"));
  CHECK(read_rope(*changed, 8, 64).magnitude == doctest::Approx(0.5 * own));
}
