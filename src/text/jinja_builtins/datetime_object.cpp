// SPDX-License-Identifier: Apache-2.0
// What templates see as `datetime`: the module and its class in one, and naive times.
#include "text/jinja/objects.h"

namespace rlx::text::jinja {
namespace {

/// A time, or (without with_time) a date.
struct TimeData : ObjectData {
  DateTime time;
  bool with_time = true;
  std::string type_name() const override { return with_time ? "datetime" : "date"; }
  bool attribute(Interpreter& in, std::string_view name, Value& out) override;
  void append_repr(std::string& out, int) const override { out += time.iso(' ', with_time); }
};

Value bind(const Value& self, ObjectMethodData::Function function) {
  auto m = std::make_shared<ObjectMethodData>();
  m->self = self;
  m->function = function;
  return Value::object(std::move(m));
}

Value make_time(const DateTime& time, bool with_time) {
  auto t = std::make_shared<TimeData>();
  t->time = time;
  t->with_time = with_time;
  return Value::object(std::move(t));
}

Value time_strftime(Interpreter& in, ObjectData& self, Arguments& args) {
  const Bound b("strftime", args, {"format"}, 1);
  return in.text(static_cast<TimeData&>(self).time.format(b.text(0)));
}

Value time_isoformat(Interpreter& in, ObjectData& self, Arguments& args) {
  const Bound b("isoformat", args, {"sep"});
  const auto& t = static_cast<TimeData&>(self);
  const std::string separator = b.has(0) ? b.text(0) : "T";
  if (separator.size() != 1) raise("isoformat: sep must be one ASCII character");
  return in.text(t.time.iso(separator[0], t.with_time));
}

Value time_weekday(Interpreter&, ObjectData& self, Arguments&) {
  return Value::integer((static_cast<TimeData&>(self).time.fields.tm_wday + 6) % 7);
}

Value time_isoweekday(Interpreter&, ObjectData& self, Arguments&) {
  const int day = static_cast<TimeData&>(self).time.fields.tm_wday;
  return Value::integer(day == 0 ? 7 : day);
}

Value time_date(Interpreter&, ObjectData& self, Arguments&) {
  return make_time(static_cast<TimeData&>(self).time, false);
}

bool TimeData::attribute(Interpreter&, std::string_view name, Value& out) {
  const std::pair<std::string_view, int> numbers[] = {
      {"year", time.fields.tm_year + 1900}, {"month", time.fields.tm_mon + 1},
      {"day", time.fields.tm_mday},         {"hour", time.fields.tm_hour},
      {"minute", time.fields.tm_min},       {"second", time.fields.tm_sec},
      {"microsecond", time.microsecond}};
  for (const auto& [key, number] : numbers) {
    if (key != name) continue;
    out = Value::integer(number);
    return true;
  }
  static constexpr std::pair<std::string_view, ObjectMethodData::Function> methods[] = {
      {"strftime", time_strftime},
      {"isoformat", time_isoformat},
      {"weekday", time_weekday},
      {"isoweekday", time_isoweekday},
      {"date", time_date}};
  for (const auto& [key, function] : methods) {
    if (key != name) continue;
    auto copy = std::make_shared<TimeData>(*this);
    out = bind(Value::object(std::move(copy)), function);
    return true;
  }
  return false;
}

Value module_now(Interpreter& in, ObjectData&, Arguments&) { return make_time(in.now(), true); }

struct ModuleData : ObjectData {
  bool dates = false;  ///< datetime.date: today() is a date
  std::string type_name() const override { return "datetime"; }
  bool attribute(Interpreter&, std::string_view name, Value& out) override;
};

Value date_today(Interpreter& in, ObjectData&, Arguments&) { return make_time(in.now(), false); }

bool ModuleData::attribute(Interpreter&, std::string_view name, Value& out) {
  if (name == "datetime" || name == "date") {
    auto module = std::make_shared<ModuleData>();
    module->dates = name == "date";
    out = Value::object(std::move(module));
    return true;
  }
  if (name != "now" && name != "today" && name != "utcnow") return false;
  out = bind(Value::object(std::make_shared<ModuleData>()), dates ? date_today : module_now);
  return true;
}

}  // namespace

Value datetime_module() { return Value::object(std::make_shared<ModuleData>()); }

}  // namespace rlx::text::jinja
