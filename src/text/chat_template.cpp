// SPDX-License-Identifier: Apache-2.0
#include "text/chat_template.h"

#include "base/utf8.h"

namespace rlx::text {
namespace {

using jinja::Kind;
using jinja::Value;

Value parse_part(const std::string& json, const char* what) {
  try {
    return jinja::parse_json(json);
  } catch (Error& e) {
    e.add_note(std::string("reading the ") + what);
    throw;
  }
}

void check_messages(const Value& messages) {
  if (!messages.is(Kind::List))
    fail(ErrorCode::InvalidArgument, "messages are of type {}, allowed is a list of objects",
         jinja::type_name(messages));
  for (size_t i = 0; i < messages.items().size(); ++i) {
    const Value& m = messages.items()[i];
    if (!m.is(Kind::Dict))
      fail(ErrorCode::InvalidArgument, "message {} is of type {}, allowed is an object", i,
           jinja::type_name(m));
    const Value* role = m.dict_data().find(std::string_view("role"));
    if (!role || !role->is_string())
      fail(ErrorCode::InvalidArgument, "message {} has no \"role\" that is a string", i);
  }
}

}  // namespace

ChatTemplate ChatTemplate::parse(std::string_view source) {
  if (source.empty())
    fail(ErrorCode::Unsupported,
         "the model has no chat template, so messages cannot be turned into its prompt format; "
         "--raw continues a plain text");
  return ChatTemplate(jinja::Template::parse(source));
}

std::string ChatTemplate::render(const ChatInputs& inputs) const {
  auto vars = std::make_shared<jinja::DictData>();
  const auto set = [&](const char* name, Value v) { vars->set(Value::string(name), std::move(v)); };
  Value messages = parse_part(inputs.messages_json, "messages");
  check_messages(messages);
  set("messages", std::move(messages));
  set("tools", inputs.tools_json.empty() ? Value() : parse_part(inputs.tools_json, "tools"));
  set("documents", Value());
  set("add_generation_prompt", Value::boolean(inputs.add_generation_prompt));
  set("bos_token", Value::string(replace_invalid_utf8(inputs.bos_token)));
  set("eos_token", Value::string(replace_invalid_utf8(inputs.eos_token)));
  if (!inputs.now.empty()) set("now", Value::string(replace_invalid_utf8(inputs.now)));
  return template_.render(Value::dict(std::move(vars)));
}

}  // namespace rlx::text
