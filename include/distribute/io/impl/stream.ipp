#pragma once
#include <distribute/io/compression.hpp>

#include <algorithm>
#include <utility>

namespace distribute::io_internal {

class FileInputStream final : public io::InputStream {
 public:
  FileInputStream(std::unique_ptr<io::RandomAccessFile> file, int64_t buffer_bytes)
      : file_(std::move(file)), buffer_bytes_(size_t(buffer_bytes)) {}
  const std::string& name() const override { return file_->path(); }
  DISTRIBUTE_INLINE absl::StatusOr<size_t> read_some(std::span<char> out) override;
  DISTRIBUTE_INLINE absl::StatusOr<uint64_t> skip(uint64_t count) override;

 private:
  std::unique_ptr<io::RandomAccessFile> file_;
  size_t buffer_bytes_;
  int64_t offset_ = 0;  // offset of the byte after the buffer
  std::string buffer_;
  std::string_view rest_;  // the part of buffer_ that was not read yet
};

DISTRIBUTE_INLINE absl::StatusOr<size_t> FileInputStream::read_some(std::span<char> out) {
  const bool direct = rest_.empty() && out.size() >= buffer_bytes_;
  if (rest_.empty()) {
    if (!direct) buffer_.resize(buffer_bytes_);
    auto count = file_->read_some(offset_, direct ? out : std::span<char>(buffer_));
    if (!count.ok()) return count.status();
    offset_ += *count;
    if (direct) return size_t(*count);
    rest_ = std::string_view(buffer_).substr(0, size_t(*count));
  }
  const size_t count = std::min(out.size(), rest_.size());
  std::copy_n(rest_.data(), count, out.data());
  rest_.remove_prefix(count);
  return count;
}

DISTRIBUTE_INLINE absl::StatusOr<uint64_t> FileInputStream::skip(uint64_t count) {
  const uint64_t buffered = std::min<uint64_t>(count, rest_.size());
  rest_.remove_prefix(size_t(buffered));
  const uint64_t left = uint64_t(std::max<int64_t>(file_->size() - offset_, 0));
  const uint64_t jumped = std::min(count - buffered, left);
  offset_ += int64_t(jumped);
  return buffered + jumped;
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

DISTRIBUTE_INLINE absl::StatusOr<uint64_t> InputStream::skip(uint64_t count) {
  std::string dropped(size_t(std::min<uint64_t>(count, 64 << 10)), '\0');
  uint64_t done = 0;
  while (done < count) {
    const size_t wanted = size_t(std::min<uint64_t>(count - done, dropped.size()));
    auto now = read_some(std::span(dropped).first(wanted));
    if (!now.ok()) return now.status();
    if (*now == 0) break;
    done += *now;
  }
  return done;
}

DISTRIBUTE_INLINE absl::StatusOr<std::unique_ptr<InputStream>> open_input_stream(
    const std::string& path, int64_t buffer_bytes) {
  auto fs = file_system_for(path);
  if (!fs.ok()) return fs.status();
  auto file = (*fs)->open(path);
  if (!file.ok()) return file.status();
  return std::make_unique<io_internal::FileInputStream>(*std::move(file),
                                                        std::max<int64_t>(buffer_bytes, 1));
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
