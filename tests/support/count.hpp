#pragma once
/// How often a word stands in what a program has printed.

#include <string>

inline int count(const std::string& text, const std::string& word) {
  int found = 0;
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += word.size()) ++found;
  return found;
}
