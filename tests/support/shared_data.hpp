#pragma once
/// Finds the reference data that stands beside the checkout; tests skip where it is absent.

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <tests/support/source_dir.hpp>

/// The path of folder `name` of the reference data, or nothing.
inline std::optional<std::string> shared_data(const std::string& name) {
  namespace fs = std::filesystem;
  const char* root = std::getenv("DISTRIBUTE_SHARED_DATA");
  const fs::path folder =
      root ? fs::path(root) : fs::path(distribute::testing::source_dir()) / "../shared/data";
  const fs::path path = folder / name;
  return fs::exists(path) ? std::optional(path.string()) : std::nullopt;
}
