#pragma once
/// A std::FILE that writes into memory.

#include <cstdio>
#include <cstdlib>
#include <string>

/// What was written so far is str().
struct MemoryFile {
  char* text = nullptr;
  size_t size = 0;
  std::FILE* file = ::open_memstream(&text, &size);
  ~MemoryFile() {
    std::fclose(file);
    std::free(text);
  }
  std::string str() {
    std::fflush(file);
    return {text, size};
  }
};
