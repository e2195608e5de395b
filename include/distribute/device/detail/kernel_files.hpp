#pragma once
/// Files of the cache on disk that keeps compiled kernels and plans between runs.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace distribute::device_internal {

/// FNV-1a over the text, beginning with `hash`.
uint64_t hash_text(std::string_view text, uint64_t hash);

/// Where compiled kernels are kept between runs: $XDG_CACHE_HOME/distribute/kernels; empty with
/// DISTRIBUTE_CUDA_CACHE=0, or where there is no home.
std::string kernel_folder();

/// The content of the file; empty where it cannot be read.
std::string read_kernel(const std::string& path);

/// Writes the file under a temporary name and renames it. The cache is a convenience: a failure
/// only costs time, and nothing is reported.
void keep_kernel(const std::string& path, const std::string& code);

}  // namespace distribute::device_internal
