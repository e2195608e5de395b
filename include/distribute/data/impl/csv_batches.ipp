#pragma once
#include <distribute/base/error.hpp>
#include <distribute/data/csv.hpp>
#include <distribute/data/detail/csv_reader.hpp>
#include <distribute/data/detail/prefetch.hpp>
#include <distribute/data/detail/selection.hpp>
#include <distribute/data/detail/shuffle.hpp>
#include <distribute/data/detail/stateful.hpp>
#include <distribute/data/files.hpp>

#include <algorithm>
#include <iterator>
#include <set>

namespace distribute::data {

namespace data_internal {

/// Moves the label, if there is one, behind the other columns.
template <typename T>
std::vector<T> with_label_last(std::vector<T> columns, std::optional<size_t> label) {
  if (label) {
    const auto at = columns.begin() + std::ptrdiff_t(*label);
    std::rotate(at, at + 1, columns.end());
  }
  return columns;
}

/// How packed records become batches.
struct CsvBatching {
  int64_t size = 1;
  bool drop_remainder = false;
  std::optional<size_t> label = {};  // the column that comes last
};

/// Joins packed records into batches of columns.
class CsvBatchStream final : public OneToOneStream<Batch> {
 public:
  CsvBatchStream(std::unique_ptr<BatchStream> input, const CsvLayout& layout, ComponentNames names,
                 const CsvBatching& batching)
      : OneToOneStream(std::move(input)),
        layout_(layout),
        names_(std::move(names)),
        batching_(batching) {}
  bool next(Batch& out) override {
    rows_.clear();
    for (Batch row; int64_t(rows_.size()) < batching_.size && input().next(row);)
      rows_.push_back(std::move(row));
    const bool full = int64_t(rows_.size()) == batching_.size;
    if (rows_.empty() || (batching_.drop_remainder && !full)) return false;
    out = Batch::from_components(
        with_label_last(unpack_records(rows_, layout_.columns), batching_.label), names_);
    return true;
  }
  int64_t skip(int64_t count) override {
    const int64_t size = batching_.size, most = INT64_MAX / size;
    const int64_t done = input().skip(std::min(count, most) * size);
    return done / size + (!batching_.drop_remainder && done % size > 0);
  }

 private:
  const CsvLayout& layout_;
  ComponentNames names_;
  CsvBatching batching_;
  std::vector<Batch> rows_;
};

class CsvBatchNode final : public CopiedNode<CsvBatchNode> {
 public:
  CsvBatchNode(NodePtr input, CsvLayout layout, const CsvBatching& batching)
      : CopiedNode(std::move(input)), layout_(std::move(layout)), batching_(batching) {}
  const char* kind() const override { return "Batch"; }
  std::vector<int64_t> parameters() const override {
    return {batching_.size, batching_.drop_remainder};
  }
  int64_t cardinality() const override { return input().cardinality(); }
  ElementSpec element_spec() const override {
    return with_batch_axis(with_label_last(spec_of_columns(layout_), batching_.label),
                           batching_.drop_remainder ? batching_.size : -1);
  }
  bool spec_is_exact() const override { return true; }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    return std::make_unique<CsvBatchStream>(input().elements(pass), layout_,
                                            names_of(element_spec()), batching_);
  }

 private:
  CsvLayout layout_;
  CsvBatching batching_;
};

DISTRIBUTE_INLINE CsvOptions reader_options(const MakeCsvOptions& options) {
  return {.compression_type = options.compression_type,
          .header = options.header,
          .field_delim = options.field_delim,
          .use_quote_delim = options.use_quote_delim,
          .na_value = options.na_value};
}

/// Reads the first record of a file.
DISTRIBUTE_INLINE std::vector<std::string> read_header(const std::string& path,
                                                       const CsvOptions& options) {
  CsvReader reader(path, options);
  std::vector<std::string_view> fields;
  if (!reader.next(fields))
    throw InvalidArgumentError(path + ": the file is empty; a header was expected");
  return {fields.begin(), fields.end()};
}

/// Gives the names of all columns. The headers of all files must be equal.
DISTRIBUTE_INLINE std::vector<std::string> all_names(const std::vector<std::string>& paths,
                                                     const MakeCsvOptions& options) {
  std::vector<std::string> names = options.column_names;
  if (names.empty()) {
    if (!options.header)
      throw InvalidArgumentError("make_csv_dataset: files without a header need column_names");
    const CsvOptions reading = reader_options(options);
    names = read_header(paths[0], reading);
    for (const std::string& path : paths)
      if (read_header(path, reading) != names)
        throw InvalidArgumentError(str_cat("make_csv_dataset: the header of ", path,
                                           " has other names than that of ", paths[0]));
  }
  std::set<std::string> seen;
  for (const std::string& name : names)
    if (!seen.insert(name).second)
      throw InvalidArgumentError(str_cat("make_csv_dataset: two columns are named \"", name, "\""));
  return names;
}

/// Gives the numbers of the selected columns, rising.
DISTRIBUTE_INLINE std::vector<int64_t> selected_columns(const std::vector<CsvColumn>& columns,
                                                        const std::vector<std::string>& names) {
  std::vector<int64_t> result;
  for (const CsvColumn& column : columns) {
    int64_t number = int64_t(names.size());
    if (const auto* name = std::get_if<std::string>(&column))
      number = std::find(names.begin(), names.end(), *name) - names.begin();
    else
      number = std::get<int64_t>(column);
    if (number < 0 || number >= int64_t(names.size()))
      throw InvalidArgumentError(str_cat("make_csv_dataset: there is no selected column ",
                                         std::holds_alternative<std::string>(column)
                                             ? "\"" + std::get<std::string>(column) + "\""
                                             : std::to_string(number),
                                         " among the ", names.size(), " columns"));
    result.push_back(number);
  }
  std::sort(result.begin(), result.end());
  if (std::adjacent_find(result.begin(), result.end()) != result.end())
    throw InvalidArgumentError("make_csv_dataset: select_columns has a column twice");
  return result;
}

/// The types that an inferred column goes through, from the narrowest on.
inline constexpr CsvType kInferred[] = {CsvType::Int32, CsvType::Int64, CsvType::Float32,
                                        CsvType::Bytes};

DISTRIBUTE_INLINE CsvDefault default_of(CsvType type) {
  switch (type) {
    case CsvType::Float32: return 0.0f;
    case CsvType::Int32: return int32_t{0};
    case CsvType::Int64: return int64_t{0};
    case CsvType::Bytes: break;
  }
  return std::string();
}

/// Finds the types of the selected columns from the first records of the files.
DISTRIBUTE_INLINE std::vector<CsvDefault> infer_columns(const std::vector<std::string>& paths,
                                                        const CsvLayout& layout, size_t num_columns,
                                                        std::optional<int64_t> num_rows) {
  const size_t count = layout.names.size();
  std::vector<size_t> widest(count, 0);
  std::vector<bool> seen(count, false);
  std::vector<std::string_view> fields;
  int64_t rows = 0;
  for (const std::string& path : paths) {
    CsvReader reader(path, layout.options);
    if (layout.options.header) reader.next(fields);
    for (; (!num_rows || rows < *num_rows) && reader.next(fields); ++rows) {
      if (fields.size() != num_columns)
        throw InvalidArgumentError(str_cat(reader.where(), ": the record has ", fields.size(),
                                           " fields, ", num_columns, " are expected"));
      for (size_t i = 0; i < count; ++i) {
        const auto& selected = layout.options.select_cols;
        const std::string_view text = fields[selected.empty() ? i : size_t(selected[i])];
        if (text.empty() || text == layout.options.na_value) continue;
        const auto* const type = std::ranges::find(kInferred, narrowest_type(text));
        widest[i] = std::max(widest[i], size_t(type - std::begin(kInferred)));
        seen[i] = true;
      }
    }
  }
  std::vector<CsvDefault> columns;
  for (size_t i = 0; i < count; ++i)
    columns.push_back(default_of(seen[i] ? kInferred[widest[i]] : CsvType::Bytes));
  return columns;
}

DISTRIBUTE_INLINE CsvLayout layout_of(const std::vector<std::string>& paths,
                                      const MakeCsvOptions& options) {
  CsvLayout layout{.options = reader_options(options)};
  const std::vector<std::string> names = all_names(paths, options);
  layout.options.select_cols = selected_columns(options.select_columns, names);
  layout.names = names;
  if (!layout.options.select_cols.empty()) {
    layout.names.clear();
    for (const int64_t number : layout.options.select_cols)
      layout.names.push_back(names[size_t(number)]);
  }
  layout.columns = options.column_defaults;
  if (layout.columns.empty())
    layout.columns = infer_columns(paths, layout, names.size(), options.num_rows_for_inference);
  if (layout.columns.size() != layout.names.size())
    throw InvalidArgumentError(str_cat("make_csv_dataset: column_defaults has ",
                                       layout.columns.size(), " columns, there are ",
                                       layout.names.size()));
  return layout;
}

DISTRIBUTE_INLINE std::optional<size_t> label_column(const std::vector<std::string>& names,
                                                     const std::string& label) {
  if (label.empty()) return std::nullopt;
  const auto found = std::find(names.begin(), names.end(), label);
  if (found == names.end())
    throw InvalidArgumentError(
        str_cat("make_csv_dataset: the label \"", label, "\" is not one of the columns"));
  return size_t(found - names.begin());
}

}  // namespace data_internal

DISTRIBUTE_INLINE Dataset make_csv_dataset(std::vector<std::string> paths, int64_t batch_size,
                                           const MakeCsvOptions& options) {
  if (batch_size < 1 || options.num_parallel_reads < 1)
    throw InvalidArgumentError(str_cat("make_csv_dataset: batch_size ", batch_size,
                                       " and num_parallel_reads ", options.num_parallel_reads,
                                       " must be at least 1"));
  if (paths.empty()) throw InvalidArgumentError("make_csv_dataset: there are no files");
  data_internal::CsvLayout layout = data_internal::layout_of(paths, options);
  data_internal::check_layout(paths, layout, "make_csv_dataset");
  data_internal::CsvBatching batching{.size = batch_size, .drop_remainder = !options.num_epochs};
  batching.label = data_internal::label_column(layout.names, options.label_name);
  NodePtr rows = data_internal::packed_records(paths, layout, options.num_parallel_reads,
                                               options.shuffle, options.shuffle_seed);
  if (options.ignore_errors) rows = ignore_errors_node(std::move(rows), true);
  if (options.shuffle)
    rows =
        shuffle_node(std::move(rows), options.shuffle_buffer_size, {.seed = options.shuffle_seed});
  if (options.num_epochs != 1) rows = repeat_node(std::move(rows), options.num_epochs.value_or(-1));
  const Dataset batches(
      std::make_shared<data_internal::CsvBatchNode>(std::move(rows), std::move(layout), batching));
  return batches.prefetch(options.prefetch_buffer_size);
}

DISTRIBUTE_INLINE Dataset make_csv_dataset(const std::string& file_pattern, int64_t batch_size,
                                           const MakeCsvOptions& options) {
  return make_csv_dataset(match_files(file_pattern), batch_size, options);
}

}  // namespace distribute::data
