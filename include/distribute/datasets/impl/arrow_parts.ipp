#pragma once
#if DISTRIBUTE_HAS_ARROW
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/datasets/detail/arrow_parts.hpp>
#include <distribute/io/file_system.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

#include <arrow/api.h>
#include <arrow/io/api.h>
#include <arrow/ipc/api.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>

namespace distribute::data::data_internal {

/// Lets Arrow read a file of this library's file systems. It keeps the error of the last read.
class ArrowInput final : public arrow::io::RandomAccessFile {
 public:
  explicit ArrowInput(std::unique_ptr<io::RandomAccessFile> file) : file_(std::move(file)) {}
  arrow::Status Close() override {
    closed_ = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return closed_; }
  arrow::Result<int64_t> Tell() const override { return position_; }
  arrow::Status Seek(int64_t position) override {
    position_ = position;
    return arrow::Status::OK();
  }
  arrow::Result<int64_t> GetSize() override { return file_->size(); }
  arrow::Result<int64_t> ReadAt(int64_t position, int64_t size, void* out) override {
    const auto count = file_->read_some(position, {static_cast<char*>(out), size_t(size)});
    problem_ = count.status();
    if (count.ok()) return *count;
    return arrow::Status::IOError(std::string(count.status().message()));
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t size) override {
    // A damaged file may ask for any size.
    size = std::clamp<int64_t>(size, 0, std::max<int64_t>(0, file_->size() - position));
    ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateResizableBuffer(size));
    ARROW_ASSIGN_OR_RAISE(const int64_t count, ReadAt(position, size, buffer->mutable_data()));
    ARROW_RETURN_NOT_OK(buffer->Resize(count));
    return std::shared_ptr<arrow::Buffer>(std::move(buffer));
  }
  arrow::Result<int64_t> Read(int64_t size, void* out) override {
    ARROW_ASSIGN_OR_RAISE(const int64_t count, ReadAt(position_, size, out));
    position_ += count;
    return count;
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t size) override {
    ARROW_ASSIGN_OR_RAISE(auto buffer, ReadAt(position_, size));
    position_ += buffer->size();
    return buffer;
  }
  const absl::Status& problem() const { return problem_; }
  const std::string& path() const { return file_->path(); }

 private:
  std::unique_ptr<io::RandomAccessFile> file_;
  int64_t position_ = 0;
  bool closed_ = false;
  absl::Status problem_;
};

/// Returns the value of an Arrow result.
/// Throws  the error that reading the file met, else DataLossError with the first line of Arrow's
///         message.
template <typename Result>
auto arrow_value(Result result, const ArrowInput& input) {
  if (result.ok()) return std::move(result).ValueOrDie();
  throw_if_error(input.problem());
  const std::string message = result.status().message();
  throw DataLossError(str_cat(input.path(), ": ", message.substr(0, message.find('\n'))));
}

/// Parquet decodes this many rows at a time.
inline constexpr int64_t kTableRowsAtATime = 1024;

/// Does what arrow_value() does with the result of `read`, which may also throw, as some of
/// Parquet's functions do.
template <typename Read>
auto parquet_value(const Read& read, const ArrowInput& input) {
  const auto guarded = [&]() -> decltype(read()) {
    try {
      return read();
    } catch (const parquet::ParquetException& problem) {
      return arrow::Status::IOError(problem.what());
    }
  };
  return arrow_value(guarded(), input);
}

class ParquetParts final : public TableParts {
 public:
  explicit ParquetParts(std::shared_ptr<ArrowInput> input) : input_(std::move(input)) {
    parquet::arrow::FileReaderBuilder builder;
    parquet::ArrowReaderProperties properties;
    properties.set_batch_size(kTableRowsAtATime);
    properties.set_pre_buffer(false);
    const auto open = [&]() -> arrow::Result<bool> {
      ARROW_RETURN_NOT_OK(builder.Open(input_));
      ARROW_ASSIGN_OR_RAISE(file_, builder.properties(properties)->Build());
      ARROW_RETURN_NOT_OK(file_->GetSchema(&schema_));
      return true;
    };
    parquet_value(open, *input_);
  }
  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }
  std::shared_ptr<arrow::RecordBatch> next(const std::vector<int>& columns) override {
    for (; group_ < file_->num_row_groups(); ++group_, rows_.reset()) {
      std::shared_ptr<arrow::RecordBatch> batch =
          parquet_value([&] { return read(columns); }, *input_);
      if (batch) return batch;
    }
    return nullptr;
  }
  int64_t skip_parts(int64_t count) override {
    int64_t done = 0;
    for (; !rows_ && group_ < file_->num_row_groups(); ++group_) {
      const int64_t rows = file_->parquet_reader()->metadata()->RowGroup(group_)->num_rows();
      if (rows > count - done) break;
      done += rows;
    }
    return done;
  }

 private:
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> read(const std::vector<int>& columns) {
    if (!rows_) {
      std::vector<int> leaves;
      for (const int column : columns)
        add_leaves(file_->manifest().schema_fields[size_t(column)], leaves);
      ARROW_ASSIGN_OR_RAISE(rows_, file_->GetRecordBatchReader({group_}, leaves));
    }
    return rows_->Next();
  }
  static void add_leaves(const parquet::arrow::SchemaField& field, std::vector<int>& leaves) {
    if (field.is_leaf()) leaves.push_back(field.column_index);
    for (const auto& child : field.children) add_leaves(child, leaves);
  }

  std::shared_ptr<ArrowInput> input_;
  std::unique_ptr<parquet::arrow::FileReader> file_;
  std::shared_ptr<arrow::Schema> schema_;
  int group_ = 0;                                   // that is read
  std::shared_ptr<arrow::RecordBatchReader> rows_;  // of this group, from its first row on
};

/// Gives these columns of a batch of Arrow's IPC format. Its offsets are checked, as they are the
/// file's bytes.
inline std::shared_ptr<arrow::RecordBatch> checked_columns(const arrow::RecordBatch& batch,
                                                           const std::vector<int>& columns,
                                                           const ArrowInput& input) {
  const auto checked = [&]() -> arrow::Result<std::shared_ptr<arrow::RecordBatch>> {
    ARROW_ASSIGN_OR_RAISE(auto some, batch.SelectColumns(columns));
    ARROW_RETURN_NOT_OK(some->ValidateFull());
    return some;
  };
  return arrow_value(checked(), input);
}

/// A file of Arrow's IPC format: batches with an index.
class ArrowFileParts final : public TableParts {
 public:
  explicit ArrowFileParts(std::shared_ptr<ArrowInput> input) : input_(std::move(input)) {
    file_ = arrow_value(arrow::ipc::RecordBatchFileReader::Open(input_), *input_);
  }
  std::shared_ptr<arrow::Schema> schema() const override { return file_->schema(); }
  std::shared_ptr<arrow::RecordBatch> next(const std::vector<int>& columns) override {
    while (batch_ < file_->num_record_batches()) {
      auto batch = arrow_value(file_->ReadRecordBatch(batch_++), *input_);
      if (batch->num_rows() > 0) return checked_columns(*batch, columns, *input_);
    }
    return nullptr;
  }

 private:
  std::shared_ptr<ArrowInput> input_;
  std::shared_ptr<arrow::ipc::RecordBatchFileReader> file_;
  int batch_ = 0;
};

class ArrowStreamParts final : public TableParts {
 public:
  explicit ArrowStreamParts(std::shared_ptr<ArrowInput> input) : input_(std::move(input)) {
    stream_ = arrow_value(arrow::ipc::RecordBatchStreamReader::Open(input_), *input_);
  }
  std::shared_ptr<arrow::Schema> schema() const override { return stream_->schema(); }
  std::shared_ptr<arrow::RecordBatch> next(const std::vector<int>& columns) override {
    for (;;) {
      auto batch = arrow_value(stream_->Next(), *input_);
      if (!batch) return nullptr;
      if (batch->num_rows() > 0) return checked_columns(*batch, columns, *input_);
    }
  }

 private:
  std::shared_ptr<ArrowInput> input_;
  std::shared_ptr<arrow::RecordBatchReader> stream_;
};

DISTRIBUTE_INLINE std::unique_ptr<TableParts> open_parts(const std::string& path,
                                                         TableFormat format) {
  io::FileSystem* const files = value_or_throw(io::file_system_for(path));
  const auto input = std::make_shared<ArrowInput>(value_or_throw(files->open(path)));
  if (format == TableFormat::Parquet) return std::make_unique<ParquetParts>(input);
  char magic[6] = {};
  const auto count = arrow_value(input->ReadAt(0, sizeof magic, magic), *input);
  if (std::string_view(magic, size_t(count)) == "ARROW1")
    return std::make_unique<ArrowFileParts>(input);
  return std::make_unique<ArrowStreamParts>(input);
}

}  // namespace distribute::data::data_internal
#endif
