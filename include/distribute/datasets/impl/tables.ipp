#pragma once
#include <distribute/base/error.hpp>
#include <distribute/datasets/detail/table_file.hpp>
#include <distribute/datasets/tables.hpp>

#include <utility>

namespace distribute::data {

namespace data_internal {

/// Describes what all files of one dataset have in common.
struct TableFileLayout {
  TableFormat format;
  TableOptions options;
  ElementSpec spec;  // of the first file
};

/// Gives the rows of one file. Its state is the number of rows that it has passed, and whether it
/// has ended. A file that cannot be opened or read ends there.
class TableFileStream final : public BatchStream {
 public:
  TableFileStream(const std::string& path, const TableFileLayout& layout)
      : path_(path), layout_(layout) {}
  bool next(Batch& out) override { return open() && file_->next(out); }
  int64_t skip(int64_t count) override { return open() ? file_->skip(count) : 0; }
  void save(StateWriter& state) const override {
    state.put(file_ ? file_->passed() : 0);
    state.put(failed_ || (file_ && file_->ended()));
  }
  void restore(StateReader& state) override {
    const int64_t passed = state.get();
    failed_ = state.get(0, 1) == 1;
    if (!failed_) replay(passed);
  }

 private:
  /// Opens the file before the first row; false once that has failed.
  bool open() {
    if (file_ || failed_) return !failed_;
    failed_ = true;  // unless it opens
    auto file = open_table(path_, layout_.format, layout_.options);
    if (file->spec() != layout_.spec)
      throw InvalidArgumentError(str_cat(path_, ": has the columns ", to_string(file->spec()),
                                         ", the first file has ", to_string(layout_.spec)));
    file_ = std::move(file);
    failed_ = false;
    return true;
  }

  const std::string& path_;
  const TableFileLayout& layout_;
  std::unique_ptr<TableFile> file_;  // open from the first row on
  bool failed_ = false;              // it cannot be opened, or had ended in the restored position
};

class TableFileNode final : public CopiedNode<TableFileNode, Node> {
 public:
  TableFileNode(std::string path, std::shared_ptr<const TableFileLayout> layout)
      : path_(std::move(path)), layout_(std::move(layout)) {}
  const char* kind() const override { return "TableFile"; }
  ElementSpec element_spec() const override { return layout_->spec; }
  std::unique_ptr<BatchStream> elements(const Pass&) const override {
    return std::make_unique<TableFileStream>(path_, *layout_);
  }

 private:
  std::string path_;
  std::shared_ptr<const TableFileLayout> layout_;
};

DISTRIBUTE_INLINE Dataset table_dataset(std::vector<std::string> paths, TableFormat format,
                                        const TableOptions& options, const char* op) {
  if (paths.empty()) throw InvalidArgumentError(str_cat(op, ": there are no files"));
  const auto layout = std::make_shared<const TableFileLayout>(
      TableFileLayout{format, options, open_table(paths[0], format, options)->spec()});
  return Dataset(file_source(std::move(paths), [layout](const std::string& path) -> NodePtr {
    return std::make_shared<TableFileNode>(path, layout);
  }));
}

}  // namespace data_internal

DISTRIBUTE_INLINE Dataset parquet_dataset(std::vector<std::string> paths,
                                          const TableOptions& options) {
  return data_internal::table_dataset(std::move(paths), data_internal::TableFormat::Parquet,
                                      options, "parquet_dataset");
}

DISTRIBUTE_INLINE Dataset arrow_dataset(std::vector<std::string> paths,
                                        const TableOptions& options) {
  return data_internal::table_dataset(std::move(paths), data_internal::TableFormat::Arrow, options,
                                      "arrow_dataset");
}

}  // namespace distribute::data
