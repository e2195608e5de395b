#pragma once
/// An environment of the tests, so that they neither read nor change the real one.

#include <map>
#include <string>

struct FakeEnvironment : std::map<std::string, std::string> {
  using map::map;
  /// A copy of what is in it now, as a function from name to value or "".
  auto reader() const {
    return [values = *this](const std::string& name) {
      const auto found = values.find(name);
      return found == values.end() ? std::string() : found->second;
    };
  }
};
