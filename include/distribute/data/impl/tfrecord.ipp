#pragma once
#include <distribute/base/logging.hpp>
#include <distribute/base/status.hpp>
#include <distribute/data/detail/interleave.hpp>
#include <distribute/data/detail/shuffle.hpp>
#include <distribute/data/element_spec.hpp>
#include <distribute/data/files.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/io/tfrecord.hpp>

namespace distribute::data {

namespace data_internal {

/// Gives the records of one file.
class RecordStream final : public BatchStream {
 public:
  RecordStream(const std::string& path, int64_t file, const TFRecordOptions& options)
      : path_(path), file_(file), options_(options) {}
  bool next(Batch& out) override {
    std::string record;
    const int64_t number = position().record;
    if (!read([&] { return reader_->next(record); })) return false;
    out = Batch{bytes_tensor(std::move(record))};
    if (options_.with_origin) out.y = Tensor{file_, number};
    return true;
  }
  int64_t skip(int64_t count) override {
    const int64_t before = position().record;
    read([&]() -> absl::StatusOr<bool> {
      auto done = reader_->skip(count);
      return done.ok() ? absl::StatusOr<bool>(*done == count) : done.status();
    });
    return position().record - before;
  }
  void save(StateWriter& state) const override {
    for (int64_t value : {position().offset, position().record, int64_t(ended_)}) state.put(value);
  }
  void restore(StateReader& state) override {
    const int64_t offset = state.get(), record = state.get();
    ended_ = state.get(0, 1);
    if (!ended_ && offset > 0) {
      open();
      throw_if_error(reader_->seek({offset, record}));
    }
    restored_ = {offset, record};
  }

 private:
  io::RecordReader::Position position() const { return reader_ ? reader_->position() : restored_; }
  void open() {
    reader_.emplace(value_or_throw(
        io::RecordReader::open(path_, options_.compression_type, options_.buffer_size)));
  }
  /// Ends the file after an error, since nothing after damage can be trusted.
  template <typename Step>
  bool read(Step step) {
    if (ended_) return false;
    ended_ = true;
    if (!reader_) open();
    ended_ = !value_or_throw(step());
    return !ended_;
  }

  const std::string& path_;
  int64_t file_;
  const TFRecordOptions& options_;
  std::optional<io::RecordReader> reader_;  // open from the first element on
  io::RecordReader::Position restored_;
  bool ended_ = false;
};

class RecordNode final : public CopiedNode<RecordNode, Node> {
 public:
  RecordNode(std::string path, int64_t file, TFRecordOptions options)
      : path_(std::move(path)), file_(file), options_(std::move(options)) {}
  const char* kind() const override { return "TFRecord"; }
  ElementSpec element_spec() const override {
    ElementSpec spec = {{{-1}, DType::UInt8}};
    if (options_.with_origin) spec.push_back({{2}, DType::Int64});
    return spec;
  }
  std::unique_ptr<BatchStream> elements(const Pass&) const override {
    return std::make_unique<RecordStream>(path_, file_, options_);
  }

 private:
  std::string path_;
  int64_t file_;
  TFRecordOptions options_;
};

}  // namespace data_internal

namespace data_internal {

/// Warns of a dataset without elements, because its files were probably not written to their end.
DISTRIBUTE_INLINE void warn_of_empty_files(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    const auto fs = io::file_system_for(path);
    const auto size = fs.ok() ? (*fs)->file_size(path) : absl::StatusOr<int64_t>(fs.status());
    if (!size.ok() || *size > 0) return;
  }
  if (!paths.empty())
    log_warning("data", str_cat("tfrecord_dataset: none of the ", paths.size(), " files, such as ",
                                paths[0], ", holds a byte: the dataset has no elements"));
}

}  // namespace data_internal

DISTRIBUTE_INLINE Dataset tfrecord_dataset(std::vector<std::string> paths,
                                           const TFRecordOptions& options) {
  if (options.buffer_size < 1 || options.num_parallel_reads < 1)
    throw InvalidArgumentError(str_cat("tfrecord_dataset: buffer_size ", options.buffer_size,
                                       " and num_parallel_reads ", options.num_parallel_reads,
                                       " must be at least 1"));
  data_internal::warn_of_empty_files(paths);
  NodePtr files = file_list_source(paths);
  if (options.shuffle_files)
    files = shuffle_node(files, int64_t(paths.size()), {.seed = options.seed});
  const auto read_file = [paths = std::move(paths), options](const Batch& file) -> NodePtr {
    const int64_t number = file.x.item<int64_t>();
    return std::make_shared<data_internal::RecordNode>(paths[size_t(number)], number, options);
  };
  return Dataset(interleave_node(files, read_file, {.cycle_length = options.num_parallel_reads}));
}

DISTRIBUTE_INLINE int64_t count_records(const std::vector<std::string>& paths,
                                        io::Compression compression_type) {
  int64_t count = 0;
  for (const std::string& path : paths) {
    auto reader = value_or_throw(io::RecordReader::open(path, compression_type));
    count += value_or_throw(reader.skip(INT64_MAX));
  }
  return count;
}

}  // namespace distribute::data
