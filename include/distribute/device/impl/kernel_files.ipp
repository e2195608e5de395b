#pragma once
#if DISTRIBUTE_HAS_CUDA
#include <distribute/base/detail/file_size_signal.hpp>
#include <distribute/base/error.hpp>
#include <distribute/device/detail/kernel_files.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <unistd.h>

namespace distribute::device_internal {

DISTRIBUTE_INLINE uint64_t hash_text(std::string_view text, uint64_t hash) {
  for (char c : text) hash = (hash ^ uint8_t(c)) * 0x100000001b3ull;  // FNV-1a
  return hash;
}

DISTRIBUTE_INLINE std::string kernel_folder() {
  const char* choice = std::getenv("DISTRIBUTE_CUDA_CACHE");
  if (choice && std::string_view(choice) == "0") return {};
  if (choice && *choice) return choice;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache)
    return std::string(cache) + "/distribute/kernels";
  const char* home = std::getenv("HOME");
  return home && *home ? std::string(home) + "/.cache/distribute/kernels" : std::string();
}

DISTRIBUTE_INLINE std::string read_kernel(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}
DISTRIBUTE_INLINE void keep_kernel(const std::string& path, const std::string& code) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  const std::string draft = str_cat(path, ".", getpid(), ".tmp");
  base_internal::ignore_file_size_signal();
  std::ofstream file(draft, std::ios::binary);
  file.write(code.data(), std::streamsize(code.size()));
  file.close();
  if (file)
    std::filesystem::rename(draft, path, ignored);
  else
    std::filesystem::remove(draft, ignored);
}

}  // namespace distribute::device_internal
#endif
