#pragma once
/// What a script asks of a test, such as more rounds, by a variable of the environment.

#include <cstdlib>

inline int number_of(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::atoi(text) : otherwise;
}
