#pragma once
#if DISTRIBUTE_HAS_CUDA
#include <distribute/base/detail/file_size_signal.hpp>
#include <distribute/base/environment.hpp>
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
  const Environment variables;
  const std::string choice = variables.text("DISTRIBUTE_CUDA_CACHE");
  if (!choice.empty()) return choice == "0" ? "" : choice;
  const std::string cache = variables.text("XDG_CACHE_HOME"), home = variables.text("HOME");
  if (!cache.empty()) return cache + "/distribute/kernels";
  return home.empty() ? "" : home + "/.cache/distribute/kernels";
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
