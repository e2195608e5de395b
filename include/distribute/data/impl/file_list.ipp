#pragma once
#include <distribute/base/status.hpp>
#include <distribute/data/files.hpp>
#include <distribute/io/file_system.hpp>

#include <algorithm>

#include <fnmatch.h>

namespace distribute::data {

namespace data_internal {

class FileListNode final : public Node {
 public:
  using Names = std::shared_ptr<const std::vector<std::string>>;
  FileListNode(Names all, std::vector<int64_t> own)
      : all_(std::move(all)),
        own_(std::move(own)),
        source_(table_source(
            make_table({Column{.values = Tensor(Shape{int64_t(own_.size())}, own_)}}))) {}
  const char* kind() const override { return "FileList"; }
  std::vector<int64_t> parameters() const override { return {int64_t(own_.size())}; }
  NodePtr with_inputs(std::vector<NodePtr>) const override {
    return std::make_shared<FileListNode>(all_, own_);
  }
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
  /// `files` are some of our own, in order; a name may occur twice.
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
  std::vector<int64_t> own_;  // numbers in all_
  NodePtr source_;
};

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
  std::vector<std::string> found;
  for (const std::string& entry : value_or_throw(files->list_directory(folder)))
    if (fnmatch(name.c_str(), entry.c_str(), FNM_PERIOD) == 0)
      found.push_back(directory.empty() ? entry : io::join_path(directory, entry));
  if (found.empty()) throw NotFoundError("no file matches \"" + pattern + "\"");
  return found;
}

}  // namespace distribute::data
