#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/data/distribute_options.hpp>
#include <distribute/io/compression.hpp>
#include <distribute/io/file_system.hpp>

#include <algorithm>
#include <sstream>
#include <string_view>

namespace distribute::data {

namespace data_internal {

/// Gives the shared directory with a final slash; "" if the paths share none.
DISTRIBUTE_INLINE std::string shared_directory(const std::vector<std::string>& paths) {
  std::string shared = paths.at(0);
  for (const std::string& path : paths) {
    const auto [end, _] = std::mismatch(shared.begin(), shared.end(), path.begin(), path.end());
    shared.erase(end, shared.end());
  }
  return shared.substr(0, shared.rfind('/') + 1);
}

/// Describes a file by its size and a checksum of both ends.
DISTRIBUTE_INLINE std::string describe_file(const std::string& path) {
  constexpr int64_t kEnd = 4096;
  const auto file = value_or_throw(io::file_system_for(path))->open(path);
  if (!file.ok()) return "cannot be opened";
  const int64_t size = (*file)->size();
  std::string ends(size_t(std::min(size, 2 * kEnd)), '\0');
  const auto first = std::span(ends).first(size_t(std::min(size, kEnd)));
  const auto last = std::span(ends).subspan(first.size());
  if (!(*file)->read(0, first).ok() || !(*file)->read(size - int64_t(last.size()), last).ok())
    return "cannot be read";
  return str_cat(size, " bytes, checksum ", io::crc32c(ends));
}

DISTRIBUTE_INLINE void add_files(const std::vector<std::string>& paths, std::ostream& lines) {
  constexpr size_t kMost = 64;
  const std::string directory = shared_directory(paths);
  lines << paths.size() << (paths.size() == 1 ? " file\n" : " files\n");
  const size_t shown = std::min(paths.size(), kMost);
  for (size_t i = 0; i < shown; ++i) {
    const std::string& path = paths[i * (paths.size() - 1) / std::max<size_t>(1, shown - 1)];
    lines << "file " << path.substr(directory.size());
    if (io::scheme_of(path).empty()) lines << " (" << describe_file(path) << ")";
    lines << '\n';
  }
}

DISTRIBUTE_INLINE void add_sources(const Node& node, std::ostream& lines) {
  for (const NodePtr& input : node.inputs()) add_sources(*input, lines);
  if (!node.inputs().empty()) return;
  if (const auto files = node.files(); !files.empty()) return add_files(files, lines);
  if (const auto table = node.table())
    lines << table->num_rows() << " rows of " << to_string(table->row_spec()) << " (checksum "
          << table->checksum() << ")\n";
}

}  // namespace data_internal

DISTRIBUTE_INLINE std::string data_summary(const Node& node) {
  std::ostringstream lines;
  data_internal::add_sources(node, lines);
  return lines.str();
}

DISTRIBUTE_INLINE void check_same_data(const std::vector<std::string>& summaries) {
  for (size_t worker = 1; worker < summaries.size(); ++worker) {
    std::istringstream first(summaries[0]), other(summaries[worker]);
    std::string a, b;
    while (first || other) {
      if (!std::getline(first, a)) a = "nothing more";
      if (!std::getline(other, b)) b = "nothing more";
      if (a == b) continue;
      throw FailedPreconditionError(str_cat(
          "the workers have different data: worker 0 has ", a, ", worker ", worker, " has ", b,
          "; give all of them the same, or data of their own with "
          "distribute_datasets_from_function or AutoShardPolicy::Off"));
    }
  }
}

}  // namespace distribute::data
