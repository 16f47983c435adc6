// SPDX-License-Identifier: Apache-2.0
#include "text/chat_template.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/mapped_file.h"

using namespace rlx;
using namespace rlx::text;
using Json = nlohmann::ordered_json;

namespace {

std::string shared_folder() {
  const char* set = std::getenv("RLX_SHARED");
  return set ? set : RLX_TEST_DATA "/../../../shared";
}

std::string render(const std::string& source, const Json& vars) {
  return jinja::Template::parse(source).render(jinja::parse_json(vars.dump()));
}

}  // namespace

// Every template and conversation of cases/chat.
TEST_CASE("published chat templates give the stored texts") {
  const std::string folder = shared_folder() + "/cases/chat/";
  REQUIRE_MESSAGE(std::filesystem::exists(folder + "expected.json"),
                  "set RLX_SHARED to the folder that holds cases/chat, not found: " << folder);
  const Json conversations = Json::parse(read_text_file(folder + "conversations.json"));
  const Json expected = Json::parse(read_text_file(folder + "expected.json"));
  size_t checked = 0;
  for (const auto& [name, answers] : expected.items()) {
    const std::string source = read_text_file(folder + name + ".jinja");
    for (const auto& [conversation, answer] : answers.items()) {
      CAPTURE(name);
      CAPTURE(conversation);
      Json vars = {{"tools", nullptr}, {"documents", nullptr}};
      for (const auto& [key, value] : conversations.items())
        if (key != "cases") vars[key] = value;
      vars.update(conversations["cases"][conversation]);
      ++checked;
      if (answer.contains("error"))
        CHECK_THROWS_AS(render(source, vars), Error);
      else
        CHECK(render(source, vars) == answer["text"].get<std::string>());
    }
  }
  CHECK(checked >= 200);
}

// Cases 023 to 047 of cases/llm-bugs.
TEST_CASE("templates that other engines got wrong") {
  const std::string folder = shared_folder() + "/cases/llm-bugs";
  REQUIRE_MESSAGE(std::filesystem::exists(folder),
                  "set RLX_SHARED to the folder that holds cases/llm-bugs, not found: " << folder);
  size_t checked = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".json") continue;
    const Json check = Json::parse(read_text_file(file.path()))["check"];
    if (check["kind"] != "template") continue;
    CAPTURE(file.path().string());
    ++checked;
    if (check.contains("want_error"))
      CHECK_THROWS_WITH_AS(render(check["template"], check["vars"]),
                           doctest::Contains(check["stderr_contains"].get<std::string>().c_str()),
                           Error);
    else
      CHECK(render(check["template"], check["vars"]) == check["want"].get<std::string>());
  }
  CHECK(checked >= 17);
}

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
