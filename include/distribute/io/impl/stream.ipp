#pragma once
#include <distribute/io/stream.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace distribute::io_internal {

class FileInputStream final : public io::InputStream {
 public:
  explicit FileInputStream(std::unique_ptr<io::RandomAccessFile> file) : file_(std::move(file)) {}
  const std::string& name() const override { return file_->path(); }
  absl::StatusOr<size_t> read_some(std::span<char> out) override;

 private:
  static constexpr size_t kBufferBytes = 256 << 10;

  std::unique_ptr<io::RandomAccessFile> file_;
  int64_t offset_ = 0;
  std::string buffer_;
  std::string_view rest_;  // the part of buffer_ that nobody has read
};

DISTRIBUTE_INLINE absl::StatusOr<size_t> FileInputStream::read_some(std::span<char> out) {
  if (rest_.empty()) {
    buffer_.resize(kBufferBytes);
    auto count = file_->read_some(offset_, buffer_);
    if (!count.ok()) return count.status();
    offset_ += *count;
    rest_ = std::string_view(buffer_).substr(0, size_t(*count));
  }
  const size_t count = std::min(out.size(), rest_.size());
  std::copy_n(rest_.data(), count, out.data());
  rest_.remove_prefix(count);
  return count;
}

class MemoryInputStream final : public io::InputStream {
 public:
  MemoryInputStream(std::string_view bytes, std::string name)
      : rest_(bytes), name_(std::move(name)) {}
  const std::string& name() const override { return name_; }
  absl::StatusOr<size_t> read_some(std::span<char> out) override {
    const size_t count = std::min(out.size(), rest_.size());
    std::copy_n(rest_.data(), count, out.data());
    rest_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view rest_;
  std::string name_;
};

}  // namespace distribute::io_internal

namespace distribute::io {

DISTRIBUTE_INLINE absl::StatusOr<std::unique_ptr<InputStream>> open_input_stream(
    const std::string& path) {
  auto fs = file_system_for(path);
  if (!fs.ok()) return fs.status();
  auto file = (*fs)->open(path);
  if (!file.ok()) return file.status();
  return std::make_unique<io_internal::FileInputStream>(*std::move(file));
}

DISTRIBUTE_INLINE std::unique_ptr<InputStream> memory_input_stream(std::string_view bytes,
                                                                   std::string name) {
  return std::make_unique<io_internal::MemoryInputStream>(bytes, std::move(name));
}

DISTRIBUTE_INLINE absl::StatusOr<size_t> append_from(InputStream& stream, size_t size,
                                                     std::string& out) {
  constexpr size_t kPieceBytes = 1 << 20;
  size_t done = 0;
  while (done < size) {
    const size_t old_size = out.size();
    const size_t piece = std::min(size - done, kPieceBytes);
    out.resize(old_size + piece);
    auto count = stream.read_some(std::span(out).subspan(old_size));
    out.resize(old_size + (count.ok() ? *count : 0));
    if (!count.ok()) return count.status();
    if (*count == 0) break;
    done += *count;
  }
  return done;
}

}  // namespace distribute::io
