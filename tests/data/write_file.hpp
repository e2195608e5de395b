#pragma once
/// Writes the input files of tests.

#include <distribute/io/compression.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/temporary_directory.hpp>

#include <string>
#include <string_view>

/// Writes `text` to a file of the directory, and returns its path.
inline std::string write(
    const TemporaryDirectory& root, const std::string& name, std::string_view text,
    distribute::io::Compression compression = distribute::io::Compression::None) {
  const std::string path = root.path() + "/" + name;
  auto file = *distribute::io::create_file(path, compression);
  REQUIRE(file->append(text).ok());
  REQUIRE(file->close().ok());
  return path;
}
