#pragma once
/// An environment of the tests, so that they neither read nor change the real one.

#include <distribute/base/environment.hpp>

#include <map>
#include <string>

struct FakeEnvironment : std::map<std::string, std::string> {
  using map::map;
  /// A copy of what is in it now.
  distribute::Environment reader() const { return std::map<std::string, std::string>(*this); }
};
