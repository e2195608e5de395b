#pragma once
#include <distribute/base/status.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/data/detail/interleave.hpp>
#include <distribute/data/element_spec.hpp>
#include <distribute/data/files.hpp>
#include <distribute/io/compression.hpp>

#include <algorithm>
#include <cstring>

namespace distribute::data {

namespace data_internal {

/// Gives the lines of one file. Its state is the offset of the next line.
class LineStream final : public BatchStream {
 public:
  LineStream(const std::string& path, const TextLineOptions& options)
      : path_(path), options_(options) {}
  bool next(Batch& out) override {
    std::string line;
    if (!read_line(line)) return false;
    line.erase(std::remove(line.begin(), line.end(), '\r'), line.end());
    out = Batch{bytes_tensor(std::move(line))};
    return true;
  }
  void save(StateWriter& state) const override {
    state.put(offset_);
    state.put(ended_);
  }
  void restore(StateReader& state) override {
    offset_ = state.get();
    ended_ = state.get(0, 1);
    if (ended_ || offset_ == 0) return;
    open();
    if (value_or_throw(file_->skip(uint64_t(offset_))) != uint64_t(offset_))
      throw InvalidArgumentError(path_ + ": the saved position lies behind the end of the file");
  }

 private:
  void open() {
    if (file_) return;
    ended_ = true;  // unless it opens
    file_ = value_or_throw(
        io::open_input_stream(path_, options_.compression_type, options_.buffer_size));
    ended_ = false;
  }
  /// Fills the empty buffer; returns false at the end of the file.
  bool fill() {
    open();
    constexpr int64_t kLargest = 64 << 10;
    buffer_.resize(size_t(std::min(options_.buffer_size, kLargest)));
    buffer_.resize(value_or_throw(file_->read_some(buffer_)));
    at_ = 0;
    return !buffer_.empty();
  }
  bool read_line(std::string& line) {
    if (ended_) return false;
    while (at_ < buffer_.size() || fill()) {
      const char* const begin = buffer_.data() + at_;
      const size_t left = buffer_.size() - at_;
      const auto* const end = static_cast<const char*>(std::memchr(begin, '\n', left));
      const size_t size = end ? size_t(end - begin) : left;
      line.append(begin, size);
      at_ += size + (end ? 1 : 0);
      offset_ += int64_t(size + (end ? 1 : 0));
      if (end) return true;
    }
    ended_ = true;
    return !line.empty();
  }

  const std::string& path_;
  const TextLineOptions& options_;
  std::unique_ptr<io::InputStream> file_;  // open from the first line on
  std::string buffer_;
  size_t at_ = 0;  // position in the buffer
  int64_t offset_ = 0;
  bool ended_ = false;
};

class LineNode final : public CopiedNode<LineNode, Node> {
 public:
  LineNode(std::string path, TextLineOptions options)
      : path_(std::move(path)), options_(std::move(options)) {}
  const char* kind() const override { return "TextLine"; }
  ElementSpec element_spec() const override { return {{{-1}, DType::UInt8}}; }
  std::unique_ptr<BatchStream> elements(const Pass&) const override {
    return std::make_unique<LineStream>(path_, options_);
  }

 private:
  std::string path_;
  TextLineOptions options_;
};

}  // namespace data_internal

DISTRIBUTE_INLINE Dataset text_line_dataset(std::vector<std::string> paths,
                                            const TextLineOptions& options) {
  if (options.buffer_size < 1 || options.num_parallel_reads < 1)
    throw InvalidArgumentError(str_cat("text_line_dataset: buffer_size ", options.buffer_size,
                                       " and num_parallel_reads ", options.num_parallel_reads,
                                       " must be at least 1"));
  if (options.compression_type == io::Compression::Auto)
    throw InvalidArgumentError(
        "text_line_dataset: say how the files are compressed: Auto is for TFRecords");
  NodePtr files = file_list_source(paths);
  const auto read_file = [paths = std::move(paths), options](const Batch& file) -> NodePtr {
    return std::make_shared<data_internal::LineNode>(paths[size_t(file.x.item<int64_t>())],
                                                     options);
  };
  return Dataset(
      interleave_node(std::move(files), read_file, {.cycle_length = options.num_parallel_reads}));
}

}  // namespace distribute::data
