#pragma once
#include <distribute/base/detail/type_names.hpp>

#include <cstdlib>
#include <string_view>

#include <cxxabi.h>

namespace distribute::base_internal {

DISTRIBUTE_INLINE std::string readable_type(const std::string& name) {
  int status = 0;
  char* const found = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string text = status == 0 && found ? found : name;
  std::free(found);
  constexpr std::string_view kString =
      "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >";
  for (size_t at; (at = text.find(kString)) != std::string::npos;)
    text.replace(at, kString.size(), "std::string");
  return text;
}

DISTRIBUTE_INLINE std::string class_name(const std::type_info& type) {
  const std::string text = readable_type(type.name());
  size_t begin = text.size(), end = text.size();
  for (int depth = 0; begin > 0; --begin) {
    const char letter = text[begin - 1];
    depth += (letter == '>' || letter == ')' || letter == '}');
    depth -= (letter == '<' || letter == '(' || letter == '{');
    if (depth == 0 && letter == '<') end = begin - 1;
    if (depth == 0 && letter == ':') break;
  }
  return text.substr(begin, end - begin);
}

}  // namespace distribute::base_internal
