#pragma once
#include <distribute/base/error.hpp>
#include <distribute/datasets/detail/table_file.hpp>
#include <distribute/datasets/tables.hpp>

#include <utility>

namespace distribute::data {

namespace data_internal {

/// What the files of one dataset have in common.
struct TableFileLayout {
  TableFormat format;
  TableOptions options;
  ElementSpec spec;  // of the first file
};

/// Gives the rows of one file. Its state is the number of rows that it has passed.
class TableFileStream final : public BatchStream {
 public:
  TableFileStream(const std::string& path, const TableFileLayout& layout)
      : path_(path), layout_(layout) {}
  bool next(Batch& out) override {
    open();
    return file_->next(out);
  }
  int64_t skip(int64_t count) override {
    open();
    return file_->skip(count);
  }
  void save(StateWriter& state) const override { state.put(file_ ? file_->passed() : 0); }
  void restore(StateReader& state) override { replay(state.get()); }

 private:
  void open() {
    if (file_) return;
    auto file = open_table(path_, layout_.format, layout_.options);
    if (file->spec() != layout_.spec)
      throw InvalidArgumentError(str_cat(path_, ": has the columns ", to_string(file->spec()),
                                         ", the first file has ", to_string(layout_.spec)));
    file_ = std::move(file);
  }

  const std::string& path_;
  const TableFileLayout& layout_;
  std::unique_ptr<TableFile> file_;  // open from the first row on
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
