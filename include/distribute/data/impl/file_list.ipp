#pragma once
#include <distribute/base/status.hpp>
#include <distribute/data/files.hpp>
#include <distribute/io/file_system.hpp>

#include <algorithm>
#include <iomanip>
#include <set>
#include <sstream>
#include <string_view>

#include <fnmatch.h>

namespace distribute::data {

namespace data_internal {

class FileListNode final : public CopiedNode<FileListNode, Node> {
 public:
  using Names = std::shared_ptr<const std::vector<std::string>>;
  FileListNode(Names all, std::vector<int64_t> own)
      : all_(std::move(all)),
        own_(std::move(own)),
        source_(table_source(
            make_table({Column{.values = Tensor(Shape{int64_t(own_.size())}, own_)}}))) {}
  const char* kind() const override { return "FileList"; }
  std::vector<int64_t> parameters() const override { return {int64_t(own_.size())}; }
  int64_t cardinality() const override { return source_->cardinality(); }
  ElementSpec element_spec() const override { return source_->element_spec(); }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    return source_->elements(pass);
  }
  std::shared_ptr<const RowTable> table() const override { return source_->table(); }
  std::unique_ptr<RowStream> row_numbers(const Pass& pass) const override {
    return source_->row_numbers(pass);
  }
  std::vector<std::string> files() const override {
    std::vector<std::string> names;
    for (int64_t number : own_) names.push_back((*all_)[size_t(number)]);
    return names;
  }
  /// `files` are some of this node's own files, in order; a name may occur twice.
  NodePtr with_files(std::vector<std::string> files) const override {
    std::vector<int64_t> chosen;
    size_t at = 0;
    for (const std::string& file : files) {
      while (at < own_.size() && (*all_)[size_t(own_[at])] != file) ++at;
      if (at == own_.size())
        throw InvalidArgumentError("a share of files holds \"" + file + "\", which is not listed");
      chosen.push_back(own_[at++]);
    }
    return std::make_shared<FileListNode>(all_, std::move(chosen));
  }

 private:
  Names all_;
  std::vector<int64_t> own_;  // indices into all_
  NodePtr source_;
};

/// The parts of a name such as "train-00001-of-00004.gz".
struct ShardName {
  std::string before, after;  // "train-", "-of-00004.gz"
  size_t digits = 0;          // number of digits
  int64_t count = 0;          // number of shards
  auto operator<=>(const ShardName&) const = default;

  std::string name(int64_t number) const {
    std::ostringstream text;
    text << before << std::setw(int(digits)) << std::setfill('0') << number << after;
    return text.str();
  }
};

/// The part of `text` from `start` that consists of digits.
inline std::string_view digits_at(std::string_view text, size_t start) {
  return text.substr(start, text.find_first_not_of("0123456789", start) - start);
}

/// Takes the last "-of-" that stands between two numbers of at most 9 and 6 digits.
DISTRIBUTE_INLINE std::optional<ShardName> shard_name(const std::string& name) {
  for (size_t of = name.rfind("-of-"); of != std::string::npos && of > 0;
       of = name.rfind("-of-", of - 1)) {
    const size_t first = name.find_last_not_of("0123456789", of - 1) + 1;
    const std::string_view number = digits_at(name, first), count = digits_at(name, of + 4);
    if (first == 0 || name[first - 1] != '-' || number.empty() || number.size() > 9 ||
        count.empty() || count.size() > 6)
      continue;
    return ShardName{name.substr(0, first), name.substr(of), number.size(),
                     std::stoll(std::string(count))};
  }
  return std::nullopt;
}

/// Checks that all shards which the pattern covers exist. `names` are the matching ones, sorted.
DISTRIBUTE_INLINE void check_all_shards(const std::string& pattern, const std::string& name_pattern,
                                        const std::vector<std::string>& names) {
  std::set<ShardName> sets;
  for (const std::string& name : names)
    if (const auto shard = shard_name(name)) sets.insert(*shard);
  for (const ShardName& set : sets)
    for (int64_t number = 0; number < set.count; ++number) {
      const std::string name = set.name(number);
      if (fnmatch(name_pattern.c_str(), name.c_str(), FNM_PERIOD) == 0 &&
          !std::binary_search(names.begin(), names.end(), name))
        throw NotFoundError(str_cat("\"", pattern, "\": ", name, " is missing, one of ", set.count,
                                    " files that belong together; a pattern that does not match "
                                    "it reads the others alone"));
    }
}

}  // namespace data_internal

DISTRIBUTE_INLINE NodePtr file_list_source(std::vector<std::string> files) {
  if (files.empty()) throw InvalidArgumentError("a dataset of files: there are no files");
  std::vector<int64_t> all(files.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = int64_t(i);
  return std::make_shared<data_internal::FileListNode>(
      std::make_shared<const std::vector<std::string>>(std::move(files)), std::move(all));
}

DISTRIBUTE_INLINE std::vector<std::string> match_files(const std::string& pattern) {
  const std::string directory = io::directory_of(pattern), name = io::file_name_of(pattern);
  const std::string folder = directory.empty() ? "." : directory;
  io::FileSystem* files = value_or_throw(io::file_system_for(folder));
  std::vector<std::string> names = value_or_throw(files->list_directory(folder));
  std::erase_if(names, [&](const std::string& entry) {
    return fnmatch(name.c_str(), entry.c_str(), FNM_PERIOD) != 0;
  });
  if (names.empty()) throw NotFoundError("no file matches \"" + pattern + "\"");
  data_internal::check_all_shards(pattern, name, names);
  std::vector<std::string> found;
  for (const std::string& entry : names)
    found.push_back(directory.empty() ? entry : io::join_path(directory, entry));
  return found;
}

}  // namespace distribute::data
