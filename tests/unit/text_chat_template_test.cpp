// SPDX-License-Identifier: Apache-2.0
#include "text/chat_template.h"

#include <doctest/doctest.h>

#include "base/error.h"

using namespace rlx;
using namespace rlx::text;

TEST_CASE("messages become a prompt") {
  const ChatTemplate chat = ChatTemplate::parse(
      "{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ eos_token }}"
      "{% endfor %}{% if tools %}{{ tools | tojson }}{% endif %}"
      "{% if add_generation_prompt %}<assistant>{% endif %}{{ strftime_now('%Y') if year }}");
  ChatInputs inputs;
  inputs.messages_json = R"([{"role": "user", "content": "é"}])";
  inputs.bos_token = "<s>";
  inputs.eos_token = "</s>";
  CHECK(chat.render(inputs) == "<s><user>é</s><assistant>");
  inputs.tools_json = R"([{"name": "f"}])";
  inputs.add_generation_prompt = false;
  CHECK(chat.render(inputs) == "<s><user>é</s>[{\"name\": \"f\"}]");
}

TEST_CASE("a model without a template is an error that names --raw") {
  CHECK_THROWS_WITH_AS(ChatTemplate::parse(""), doctest::Contains("--raw"), Error);
}

TEST_CASE("messages of a wrong shape are refused with their place") {
  const ChatTemplate chat = ChatTemplate::parse("x");
  const auto render_messages = [&](const char* json) {
    ChatInputs inputs;
    inputs.messages_json = json;
    return chat.render(inputs);
  };
  CHECK(render_messages("[]") == "x");
  CHECK_THROWS_WITH_AS(render_messages("{}"), doctest::Contains("list of objects"), Error);
  CHECK_THROWS_WITH_AS(render_messages(R"([{"role": "user"}, 5])"), doctest::Contains("message 1"),
                       Error);
  CHECK_THROWS_WITH_AS(render_messages(R"([{"content": "a"}])"), doctest::Contains("role"), Error);
  CHECK_THROWS_WITH_AS(render_messages("[{"), doctest::Contains("while reading the messages"),
                       Error);
}
