#pragma once
#include <distribute/base/error.hpp>
#include <distribute/data/csv.hpp>
#include <distribute/data/detail/csv_reader.hpp>
#include <distribute/data/detail/interleave.hpp>
#include <distribute/data/detail/shuffle.hpp>
#include <distribute/data/files.hpp>

#include <algorithm>

namespace distribute::data {

namespace data_internal {

/// Gives the packed records of one file. Its state is the place of the next record.
class CsvStream final : public BatchStream {
 public:
  CsvStream(const std::string& path, const CsvLayout& layout)
      : path_(path), layout_(layout), reader_(path, layout.options) {}
  bool next(Batch& out) override {
    if (layout_.options.header && reader_.position().offset == 0 && !reader_.position().ended &&
        !reader_.next(fields_))
      throw InvalidArgumentError(path_ + ": the file is empty; a header was expected");
    if (!reader_.next(fields_)) return false;
    pack_record(fields_, layout_, reader_.where(), row_);
    out = Batch{bytes_tensor(row_)};
    return true;
  }
  void save(StateWriter& state) const override {
    const CsvReader::Position position = reader_.position();
    for (const int64_t value : {position.offset, position.line, int64_t(position.ended)})
      state.put(value);
  }
  void restore(StateReader& state) override {
    const int64_t offset = state.get(), line = state.get(1);
    reader_.restore({offset, line, state.get(0, 1) == 1});
  }

 private:
  const std::string& path_;
  const CsvLayout& layout_;
  CsvReader reader_;
  std::vector<std::string_view> fields_;
  std::string row_;
};

class CsvNode final : public CopiedNode<CsvNode, Node> {
 public:
  CsvNode(std::string path, std::shared_ptr<const CsvLayout> layout)
      : path_(std::move(path)), layout_(std::move(layout)) {}
  const char* kind() const override { return "Csv"; }
  ElementSpec element_spec() const override { return {{{-1}, DType::UInt8}}; }
  std::unique_ptr<BatchStream> elements(const Pass&) const override {
    return std::make_unique<CsvStream>(path_, *layout_);
  }

 private:
  std::string path_;
  std::shared_ptr<const CsvLayout> layout_;
};

/// Gives the columns of each packed record.
class UnpackStream final : public OneToOneStream<Batch> {
 public:
  UnpackStream(std::unique_ptr<BatchStream> input, const CsvLayout& layout)
      : OneToOneStream(std::move(input)), layout_(layout) {}
  bool next(Batch& out) override {
    Batch row;
    if (!input().next(row)) return false;
    out = Batch::from_components(unpack_record(bytes_of(row.x), layout_.columns));
    return true;
  }

 private:
  const CsvLayout& layout_;
};

class UnpackNode final : public CopiedNode<UnpackNode> {
 public:
  UnpackNode(NodePtr input, CsvLayout layout)
      : CopiedNode(std::move(input)), layout_(std::move(layout)) {}
  const char* kind() const override { return "CsvColumns"; }
  ElementSpec element_spec() const override { return spec_of_columns(layout_); }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    return std::make_unique<UnpackStream>(input().elements(pass), layout_);
  }

 private:
  CsvLayout layout_;
};

DISTRIBUTE_INLINE NodePtr packed_records(std::vector<std::string> paths, CsvLayout layout,
                                         int64_t num_parallel_reads, bool shuffle,
                                         std::optional<uint64_t> seed) {
  NodePtr files = file_list_source(paths);
  if (shuffle) files = shuffle_node(files, int64_t(paths.size()), {.seed = seed});
  const auto shared = std::make_shared<const CsvLayout>(std::move(layout));
  const auto read_file = [paths = std::move(paths), shared](const Batch& file) -> NodePtr {
    return std::make_shared<CsvNode>(paths[size_t(file.x.item<int64_t>())], shared);
  };
  return interleave_node(std::move(files), read_file, {.cycle_length = num_parallel_reads});
}

DISTRIBUTE_INLINE void check_layout(const std::vector<std::string>& paths, const CsvLayout& layout,
                                    const char* op) {
  const auto refuse = [&](const auto&... words) {
    throw InvalidArgumentError(str_cat(op, ": ", words...));
  };
  const CsvOptions& options = layout.options;
  if (paths.empty()) refuse("there are no files");
  if (layout.columns.empty()) refuse("there are no columns");
  if (options.buffer_size < 1) refuse("buffer_size must be at least 1, got ", options.buffer_size);
  if (options.compression_type == io::Compression::Auto)
    refuse("say how the files are compressed: Auto is for TFRecords");
  if (options.field_delim == '"' || options.field_delim == '\n' || options.field_delim == '\r')
    refuse("field_delim cannot be a quote or the end of a line");
  for (size_t i = 0; i < options.select_cols.size(); ++i)
    if (options.select_cols[i] < 0 ||
        (i > 0 && options.select_cols[i] <= options.select_cols[i - 1]))
      refuse("select_cols must be numbers from 0 on that rise");
  if (!options.select_cols.empty() && options.select_cols.size() != layout.columns.size())
    refuse("select_cols has ", options.select_cols.size(), " columns, there are ",
           layout.columns.size(), " defaults");
}

/// Turns columns to leave out into columns to select: there are as many as defaults.
DISTRIBUTE_INLINE void select_all_but_excluded(CsvOptions& options, size_t count) {
  if (options.exclude_cols.empty()) return;
  if (!options.select_cols.empty())
    throw InvalidArgumentError("csv_dataset: give select_cols or exclude_cols, not both");
  const auto& left_out = options.exclude_cols;
  for (int64_t column = 0; options.select_cols.size() < count; ++column)
    if (std::find(left_out.begin(), left_out.end(), column) == left_out.end())
      options.select_cols.push_back(column);
}

}  // namespace data_internal

DISTRIBUTE_INLINE Dataset csv_dataset(std::vector<std::string> paths,
                                      std::vector<CsvDefault> record_defaults,
                                      const CsvOptions& options) {
  data_internal::CsvLayout layout{.columns = std::move(record_defaults), .options = options};
  data_internal::select_all_but_excluded(layout.options, layout.columns.size());
  data_internal::check_layout(paths, layout, "csv_dataset");
  NodePtr rows = data_internal::packed_records(std::move(paths), layout, 1, false, {});
  return Dataset(std::make_shared<data_internal::UnpackNode>(std::move(rows), std::move(layout)));
}

}  // namespace distribute::data
