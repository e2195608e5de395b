#pragma once
#include <distribute/base/status.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/data/detail/interleave.hpp>
#include <distribute/data/element_spec.hpp>
#include <distribute/data/files.hpp>
#include <distribute/io/compression.hpp>
#include <distribute/io/file_system.hpp>

namespace distribute::data {

namespace data_internal {

/// Gives the records of one file. Its state is their number.
class FixedLengthRecordStream final : public BatchStream {
 public:
  FixedLengthRecordStream(const std::string& path, int64_t record_bytes,
                          const FixedLengthRecordOptions& options)
      : path_(path), record_(size_t(record_bytes)), options_(options) {}
  bool next(Batch& out) override {
    if (ended_) return false;
    open();
    const size_t footer = size_t(options_.footer_bytes), wanted = record_ + footer;
    ended_ = true;  // unless a whole record comes
    if (ahead_.size() < wanted)
      value_or_throw(io::append_from(*file_, wanted - ahead_.size(), ahead_));
    if (ahead_.size() < wanted) {
      if (ahead_.size() != footer) throw DataLossError(not_whole("its body"));
      return false;
    }
    out = Batch{bytes_tensor(ahead_.substr(0, record_))};
    ahead_.erase(0, record_);
    ++given_;
    ended_ = false;
    return true;
  }
  void save(StateWriter& state) const override {
    state.put(given_);
    state.put(ended_);
  }
  void restore(StateReader& state) override {
    const int64_t count = state.get(0, INT64_MAX / int64_t(record_));
    ended_ = state.get(0, 1);
    given_ = count;
    if (ended_ || count == 0) return;
    open();
    const uint64_t bytes = uint64_t(count) * record_;
    if (value_or_throw(file_->skip(bytes)) != bytes)
      throw InvalidArgumentError(path_ + ": the saved position lies behind the end of the file");
  }

 private:
  std::string not_whole(const std::string& body) const {
    return str_cat(path_, ": without the header of ", options_.header_bytes,
                   " bytes and the footer of ", options_.footer_bytes, " bytes ", body,
                   " is not a multiple of the record's ", record_, " bytes");
  }
  void open() {
    if (file_) return;
    ended_ = true;  // unless it opens
    if (options_.compression_type == io::Compression::None) check_size();
    file_ = value_or_throw(
        io::open_input_stream(path_, options_.compression_type, options_.buffer_size));
    const auto header = uint64_t(options_.header_bytes);
    if (value_or_throw(file_->skip(header)) != header)
      throw InvalidArgumentError(
          str_cat(path_, ": is shorter than the header of ", header, " bytes"));
    ended_ = false;
  }
  void check_size() const {
    io::FileSystem* const files = value_or_throw(io::file_system_for(path_));
    const int64_t body =
        value_or_throw(files->file_size(path_)) - options_.header_bytes - options_.footer_bytes;
    if (body < 0 || body % int64_t(record_) != 0)
      throw InvalidArgumentError(not_whole(str_cat("its body of ", body, " bytes")));
  }

  const std::string& path_;
  size_t record_;
  const FixedLengthRecordOptions& options_;
  std::unique_ptr<io::InputStream> file_;  // open from the first record on
  std::string ahead_;                      // bytes that may be the footer
  int64_t given_ = 0;
  bool ended_ = false;
};

class FixedLengthRecordNode final : public CopiedNode<FixedLengthRecordNode, Node> {
 public:
  FixedLengthRecordNode(std::string path, int64_t record_bytes, FixedLengthRecordOptions options)
      : path_(std::move(path)), record_bytes_(record_bytes), options_(options) {}
  const char* kind() const override { return "FixedLengthRecord"; }
  ElementSpec element_spec() const override { return {{{record_bytes_}, DType::UInt8}}; }
  std::unique_ptr<BatchStream> elements(const Pass&) const override {
    return std::make_unique<FixedLengthRecordStream>(path_, record_bytes_, options_);
  }

 private:
  std::string path_;
  int64_t record_bytes_;
  FixedLengthRecordOptions options_;
};

}  // namespace data_internal

DISTRIBUTE_INLINE Dataset fixed_length_record_dataset(std::vector<std::string> paths,
                                                      int64_t record_bytes,
                                                      const FixedLengthRecordOptions& options) {
  if (record_bytes < 1 || options.header_bytes < 0 || options.footer_bytes < 0 ||
      options.buffer_size < 1 || options.num_parallel_reads < 1)
    throw InvalidArgumentError(str_cat("fixed_length_record_dataset: record_bytes ", record_bytes,
                                       ", buffer_size ", options.buffer_size,
                                       " and num_parallel_reads ", options.num_parallel_reads,
                                       " must be at least 1, header_bytes ", options.header_bytes,
                                       " and footer_bytes ", options.footer_bytes, " at least 0"));
  if (options.compression_type == io::Compression::Auto)
    throw InvalidArgumentError(
        "fixed_length_record_dataset: say how the files are compressed: Auto is for TFRecords");
  NodePtr files = file_list_source(paths);
  const auto read_file = [paths = std::move(paths), record_bytes,
                          options](const Batch& file) -> NodePtr {
    return std::make_shared<data_internal::FixedLengthRecordNode>(
        paths[size_t(file.x.item<int64_t>())], record_bytes, options);
  };
  return Dataset(
      interleave_node(std::move(files), read_file, {.cycle_length = options.num_parallel_reads}));
}

}  // namespace distribute::data
