// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "text/jinja/jinja.h"

namespace rlx::text {

/// What a chat template is rendered with.
struct ChatInputs {
  std::string messages_json;  ///< an array of {"role", "content", ...}
  std::string tools_json;     ///< an array of tool schemas; empty: none
  std::string bos_token;      ///< text of the start token; empty where there is none
  std::string eos_token;
  bool add_generation_prompt = true;
  std::string now;  ///< "2026-01-02T03:04:05"; empty: the clock
};

/// A model's chat template, from messages to prompt text.
class ChatTemplate {
 public:
  /// Error as jinja::Template::parse. An empty source (a model without a template) is an Error
  /// Unsupported that says so and names --raw: guessing another model's format would only seem to
  /// work.
  static ChatTemplate parse(std::string_view source);

  /// The prompt text, special tokens spelled out. Error as jinja::Template::render, InvalidArgument
  /// for messages that are not an array of objects with a role.
  std::string render(const ChatInputs& inputs) const;

 private:
  explicit ChatTemplate(jinja::Template t) : template_(std::move(t)) {}
  jinja::Template template_;
};

}  // namespace rlx::text
