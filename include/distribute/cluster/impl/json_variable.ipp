#pragma once
#include <distribute/base/detail/usage_error.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/cluster/detail/json_variable.hpp>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE std::shared_ptr<const untrusted::JsonValue> JsonVariable::object() {
  const std::string text = variables_(name_).value_or("{}");
  const std::lock_guard lock(mutex_);
  if (object_ && text == text_) return object_;
  ++in_process<JsonVariableParses>().count;
  untrusted::JsonValue root = base_internal::reading_usage([&] {
    untrusted::JsonValue parsed = untrusted::parse_json(text, name_);
    untrusted::object_of(parsed, name_);
    return parsed;
  });
  text_ = text;
  object_ = std::make_shared<const untrusted::JsonValue>(std::move(root));
  return object_;
}

}  // namespace distribute::cluster_internal
