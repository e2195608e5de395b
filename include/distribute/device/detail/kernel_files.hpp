#pragma once
/// Files of the cache on disk that keeps compiled kernels and plans between runs.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace distribute::device_internal {

/// Continues an FNV-1a hash over the text, beginning with `hash`.
uint64_t hash_text(std::string_view text, uint64_t hash);

/// The folder of compiled kernels: $XDG_CACHE_HOME/distribute/kernels; empty with
/// DISTRIBUTE_CUDA_CACHE=0, or without a home directory.
std::string kernel_folder();

/// Reads the file; gives "" where it cannot be read.
std::string read_kernel(const std::string& path);

/// Writes the file under a temporary name and renames it. The cache is a convenience: a failure
/// only costs time, and nothing is reported.
void keep_kernel(const std::string& path, const std::string& code);

}  // namespace distribute::device_internal
