#pragma once
#include <distribute/base/limits.hpp>

#include <cstdlib>
#include <fstream>
#include <string>

namespace distribute::base_internal {

DISTRIBUTE_INLINE std::vector<double> process_stat() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  std::vector<double> fields;
  const size_t end = line.rfind(')');  // of the name, which may hold anything
  if (end == std::string::npos) return fields;
  const char* at = line.c_str() + end + 3;  // behind the state, which is a letter
  for (char* stop = nullptr;; at = stop) {
    const double value = std::strtod(at, &stop);
    if (stop == at) return fields;
    fields.push_back(value);
  }
}

}  // namespace distribute::base_internal
