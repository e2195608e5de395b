#pragma once
#if DISTRIBUTE_HAS_ARROW
#include <distribute/base/error.hpp>
#include <distribute/datasets/detail/arrow_column.hpp>
#include <distribute/datasets/detail/arrow_parts.hpp>
#include <distribute/datasets/detail/table_file.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <arrow/api.h>

namespace distribute::data::data_internal {

DISTRIBUTE_INLINE bool has_arrow() { return true; }

class ArrowTable final : public TableFile {
 public:
  ArrowTable(std::string path, TableFormat format, const TableOptions& options)
      : path_(std::move(path)),
        nulls_are_zero_(options.nulls_are_zero),
        parts_(open_parts(path_, format)) {
    const auto schema = parts_->schema();
    std::vector<std::string> wanted = options.columns;
    if (wanted.empty()) wanted = schema->field_names();
    if (wanted.empty()) throw InvalidArgumentError(path_ + ": the file has no columns");
    for (const std::string& name : wanted) add_column(*schema, name);
    names_ = names_of(spec_);
  }
  const ElementSpec& spec() const override { return spec_; }
  bool next(Batch& row) override {
    if (!has_rows()) return false;
    const int64_t at = row_++;
    std::vector<Tensor> values;
    for (size_t i = 0; i < spec_.size(); ++i) values.push_back(value(i, at));
    row = Batch::from_components(std::move(values), names_);
    return true;
  }
  int64_t skip(int64_t count) override {
    const int64_t begin = passed(), end = count > INT64_MAX - begin ? INT64_MAX : begin + count;
    while (passed() < end) {
      if (!batch_ || row_ == batch_->num_rows()) {
        leave_batch();
        passed_ += parts_->skip_parts(end - passed_);
        if (passed_ == end || !has_rows()) break;
      }
      row_ += std::min(end - passed(), batch_->num_rows() - row_);
    }
    return passed() - begin;
  }
  int64_t passed() const override { return passed_ + row_; }
  bool ended() const override { return ended_; }

 private:
  void add_column(const arrow::Schema& schema, const std::string& name) {
    const std::vector<int> found = schema.GetAllFieldIndices(name);
    if (found.size() != 1)
      throw InvalidArgumentError(
          str_cat(path_, found.empty() ? ": there is no column \"" : ": two columns are named \"",
                  name, "\"; the file has ", schema.num_fields(), " columns", listed(schema)));
    if (std::find(columns_.begin(), columns_.end(), found[0]) != columns_.end())
      throw InvalidArgumentError(str_cat("`columns` has \"", name, "\" twice"));
    columns_.push_back(found[0]);
    spec_.push_back(spec_of_column(*schema.field(found[0]), path_));
  }
  /// Returns the names of the first columns as ": a, b, c, ...".
  static std::string listed(const arrow::Schema& schema) {
    std::string text;
    for (int i = 0; i < std::min(schema.num_fields(), 20); ++i)
      text += (i == 0 ? ": " : ", ") + schema.field(i)->name();
    return text + (schema.num_fields() > 20 ? ", ..." : "");
  }
  /// Reads the next rows where none are left; returns whether there is one.
  bool has_rows() {
    if (batch_ && row_ < batch_->num_rows()) return true;
    leave_batch();
    if (ended_) return false;
    ended_ = true;  // unless rows come
    batch_ = parts_->next(columns_);
    if (!batch_) return false;
    ended_ = false;
    // Parquet gives the columns in the file's order.
    arrays_.clear();
    for (const TensorSpec& column : spec_) arrays_.push_back(batch_->GetColumnByName(column.name));
    return true;
  }
  void leave_batch() {
    passed_ += std::exchange(row_, 0);
    batch_ = nullptr;
  }
  Tensor value(size_t column, int64_t row) const {
    try {
      return value_of_column(*arrays_[column], row, spec_[column], nulls_are_zero_);
    } catch (const BadValue& bad) {
      throw InvalidArgumentError(str_cat(path_, ": row ", passed_ + row,
                                         " (counted from 0), column \"", spec_[column].name,
                                         "\": ", bad.what));
    }
  }

  std::string path_;
  bool nulls_are_zero_;
  std::unique_ptr<TableParts> parts_;
  bool ended_ = false;
  std::vector<int> columns_;
  ElementSpec spec_;
  ComponentNames names_;
  std::shared_ptr<arrow::RecordBatch> batch_;          // null before the first and after the last
  std::vector<std::shared_ptr<arrow::Array>> arrays_;  // of its columns, in the order of spec_
  int64_t row_ = 0;                                    // the next one in it
  int64_t passed_ = 0;                                 // rows of the file before it
};

DISTRIBUTE_INLINE std::unique_ptr<TableFile> open_table(const std::string& path, TableFormat format,
                                                        const TableOptions& options) {
  return std::make_unique<ArrowTable>(path, format, options);
}

}  // namespace distribute::data::data_internal
#endif
