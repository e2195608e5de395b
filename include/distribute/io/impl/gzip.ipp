#pragma once
#include <distribute/io/compression.hpp>

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/detail/wire.hpp>

#include <algorithm>
#include <utility>

#include <zlib.h>

namespace distribute::io_internal {

/// zlib's "window bits" argument, which also selects the format.
DISTRIBUTE_INLINE int window_bits(io::Compression compression) {
  return compression == io::Compression::Gzip ? 15 + 16 : 15;
}

/// Decompresses another stream. A gzip file may hold several members one after the other.
class InflateStream final : public io::InputStream {
 public:
  InflateStream(std::unique_ptr<io::InputStream> source, io::Compression compression)
      : source_(std::move(source)), compression_(compression) {
    ready_ = inflateInit2(&zlib_, window_bits(compression)) == Z_OK;
  }
  InflateStream(const InflateStream&) = delete;
  ~InflateStream() override {
    if (ready_) inflateEnd(&zlib_);
  }
  const std::string& name() const override { return source_->name(); }
  DISTRIBUTE_INLINE absl::StatusOr<size_t> read_some(std::span<char> out) override;

 private:
  /// Reads more input when none is left; returns false at the end of the source.
  absl::StatusOr<bool> fill();
  absl::Status damaged(const std::string& reason) const {
    return make_status(StatusCode::DataLoss, str_cat(name(), ": ", reason));
  }

  std::unique_ptr<io::InputStream> source_;
  io::Compression compression_;
  z_stream zlib_{};
  bool ready_ = false;
  bool at_member_end_ = false;
  std::string input_;
};

DISTRIBUTE_INLINE absl::StatusOr<bool> InflateStream::fill() {
  if (zlib_.avail_in > 0) return true;
  input_.resize(64 << 10);
  auto count = source_->read_some(input_);
  if (!count.ok()) return count.status();
  zlib_.next_in = reinterpret_cast<Bytef*>(input_.data());
  zlib_.avail_in = uInt(*count);
  return *count > 0;
}

DISTRIBUTE_INLINE absl::StatusOr<size_t> InflateStream::read_some(std::span<char> out) {
  if (!ready_) return make_status(StatusCode::ResourceExhausted, "zlib: out of memory");
  const size_t wanted = std::min(out.size(), size_t{1} << 30);  // zlib counts in 32 bits
  zlib_.next_out = reinterpret_cast<Bytef*>(out.data());
  zlib_.avail_out = uInt(wanted);
  while (zlib_.avail_out == wanted && wanted > 0) {
    auto more = fill();
    if (!more.ok()) return more.status();
    if (!*more && at_member_end_) break;
    if (!*more) return damaged("the compressed data is cut off");
    if (at_member_end_ && compression_ == io::Compression::Zlib) {
      return damaged("unexpected bytes after the compressed data");
    }
    if (at_member_end_ && *zlib_.next_in == 0) {  // padding, as on tapes, which gzip accepts
      ++zlib_.next_in, --zlib_.avail_in;
      continue;
    }
    if (std::exchange(at_member_end_, false)) inflateReset(&zlib_);
    const int result = inflate(&zlib_, Z_NO_FLUSH);
    at_member_end_ = result == Z_STREAM_END;
    if (result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR) continue;
    const char* kind = compression_ == io::Compression::Gzip ? "gzip" : "zlib";
    const char* reason = zlib_.msg ? zlib_.msg : "unknown reason";
    return damaged(str_cat("damaged or not ", kind, " data (", reason, ")"));
  }
  return wanted - zlib_.avail_out;
}

/// Compresses into another file. If it is destroyed without close(), it writes the end mark only
/// with `ends_itself`, because on an object store half a file must not appear.
class DeflateFile final : public io::WritableFile {
 public:
  DeflateFile(std::unique_ptr<io::WritableFile> file, io::Compression compression, bool ends_itself)
      : file_(std::move(file)), ends_itself_(ends_itself) {
    ready_ = deflateInit2(&zlib_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits(compression), 8,
                          Z_DEFAULT_STRATEGY) == Z_OK;
  }
  DeflateFile(const DeflateFile&) = delete;
  ~DeflateFile() override {
    if (ends_itself_) close().IgnoreError();
    if (ready_) deflateEnd(&zlib_);
  }
  absl::Status append(std::string_view bytes) override { return deflate_all(bytes, Z_NO_FLUSH); }
  DISTRIBUTE_INLINE absl::Status flush() override;
  DISTRIBUTE_INLINE absl::Status sync() override;
  DISTRIBUTE_INLINE absl::Status close() override;

 private:
  absl::Status deflate_all(std::string_view bytes, int flush_mode);

  std::unique_ptr<io::WritableFile> file_;
  const bool ends_itself_;
  z_stream zlib_{};
  bool ready_ = false;
};

DISTRIBUTE_INLINE absl::Status DeflateFile::deflate_all(std::string_view bytes, int flush_mode) {
  if (!ready_) return make_status(StatusCode::FailedPrecondition, "compressed file is closed");
  do {
    const size_t count = std::min(bytes.size(), size_t{1} << 30);
    zlib_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    zlib_.avail_in = uInt(count);
    bytes.remove_prefix(count);
    const int mode = bytes.empty() ? flush_mode : Z_NO_FLUSH;
    do {
      char output[16 << 10];
      zlib_.next_out = reinterpret_cast<Bytef*>(output);
      zlib_.avail_out = sizeof(output);
      deflate(&zlib_, mode);
      const absl::Status status = file_->append({output, sizeof(output) - zlib_.avail_out});
      if (!status.ok()) return status;
    } while (zlib_.avail_out == 0);
  } while (!bytes.empty());
  return absl::OkStatus();
}

DISTRIBUTE_INLINE absl::Status DeflateFile::flush() {
  const absl::Status status = deflate_all({}, Z_SYNC_FLUSH);
  return status.ok() ? file_->flush() : status;
}

DISTRIBUTE_INLINE absl::Status DeflateFile::sync() {
  const absl::Status status = deflate_all({}, Z_SYNC_FLUSH);
  return status.ok() ? file_->sync() : status;
}

DISTRIBUTE_INLINE absl::Status DeflateFile::close() {
  if (!ready_) return absl::OkStatus();
  const absl::Status status = deflate_all({}, Z_FINISH);
  deflateEnd(&zlib_);
  ready_ = false;
  const absl::Status closed = file_->close();
  return status.ok() ? closed : status;
}

}  // namespace distribute::io_internal

namespace distribute::io {

DISTRIBUTE_INLINE bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

DISTRIBUTE_INLINE absl::StatusOr<Compression> compression_from_name(std::string_view name) {
  if (name.empty()) return Compression::None;
  if (name == "ZLIB") return Compression::Zlib;
  if (name == "GZIP") return Compression::Gzip;
  return make_status(StatusCode::InvalidArgument,
                     str_cat("the compression type is \"", name,
                             "\", expected \"\" (none), \"ZLIB\" or \"GZIP\""));
}

DISTRIBUTE_INLINE Compression detect_compression(std::string_view start) {
  std::string_view rest = start;
  uint64_t size = 0;
  uint32_t stored = 0;
  const bool plain = take_fixed64(rest, size) && take_fixed32(rest, stored) &&
                     stored == mask_crc(crc32c(start.substr(0, 8)));
  if (plain) return Compression::None;
  if (is_gzip(start)) return Compression::Gzip;
  // RFC 1950 describes the first two bytes: deflate with a window of 32 KiB, and their checksum.
  const bool zlib = start.size() >= 2 && start[0] == '\x78' &&
                    (uint8_t(start[0]) << 8 | uint8_t(start[1])) % 31 == 0;
  return zlib ? Compression::Zlib : Compression::None;
}

}  // namespace distribute::io

namespace distribute::io_internal {

/// Bytes that were read ahead, then the rest of the stream.
class ReadAheadStream final : public io::InputStream {
 public:
  ReadAheadStream(std::string head, std::unique_ptr<io::InputStream> rest)
      : head_(std::move(head)), rest_(std::move(rest)) {}
  const std::string& name() const override { return rest_->name(); }
  DISTRIBUTE_INLINE absl::StatusOr<size_t> read_some(std::span<char> out) override;
  DISTRIBUTE_INLINE absl::StatusOr<uint64_t> skip(uint64_t count) override;

 private:
  std::string head_;
  size_t given_ = 0;  // number of bytes of head_ that were given
  std::unique_ptr<io::InputStream> rest_;
};

DISTRIBUTE_INLINE absl::StatusOr<size_t> ReadAheadStream::read_some(std::span<char> out) {
  if (given_ == head_.size()) return rest_->read_some(out);
  const size_t count = head_.copy(out.data(), out.size(), given_);
  given_ += count;
  return count;
}

DISTRIBUTE_INLINE absl::StatusOr<uint64_t> ReadAheadStream::skip(uint64_t count) {
  const uint64_t ahead = std::min<uint64_t>(count, head_.size() - given_);
  given_ += ahead;
  auto behind = rest_->skip(count - ahead);
  return behind.ok() ? absl::StatusOr<uint64_t>(ahead + *behind) : behind;
}

/// Gives the stream from its beginning, and how it is compressed.
DISTRIBUTE_INLINE absl::StatusOr<io::Compression> look_ahead(
    std::unique_ptr<io::InputStream>& stream) {
  std::string start;
  constexpr size_t kRecordHeader = 12;
  auto count = io::append_from(*stream, kRecordHeader, start);
  if (!count.ok()) return count.status();
  const io::Compression found = io::detect_compression(start);
  stream = std::make_unique<ReadAheadStream>(std::move(start), std::move(stream));
  return found;
}

/// The unpacked size that a gzip file declares, modulo 2^32, limited to the largest possible size.
DISTRIBUTE_INLINE size_t expected_size(std::string_view gzip) {
  size_t size = 0;
  for (size_t i = 1; i <= 4 && i <= gzip.size(); ++i)
    size = size << 8 | uint8_t(gzip[gzip.size() - i]);
  constexpr size_t kMostExpansion = 1032;  // zlib's limit
  return std::min(size, gzip.size() * kMostExpansion);
}

}  // namespace distribute::io_internal

namespace distribute::io {

DISTRIBUTE_INLINE absl::StatusOr<std::string> decompress_gzip(std::string_view bytes,
                                                              const std::string& name) {
  io_internal::InflateStream stream(memory_input_stream(bytes, name), Compression::Gzip);
  std::string contents;
  constexpr size_t kRoomToFindTheEnd = size_t{1} << 20;
  contents.reserve(io_internal::expected_size(bytes) + kRoomToFindTheEnd);
  auto count = append_from(stream, contents.max_size(), contents);
  if (!count.ok()) return count.status();
  return contents;
}

DISTRIBUTE_INLINE std::string compress_zlib(std::string_view bytes) {
  uLongf size = compressBound(uLong(bytes.size()));
  std::string compressed(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(compressed.data()), &size,
                reinterpret_cast<const Bytef*>(bytes.data()), uLong(bytes.size()),
                Z_BEST_SPEED) != Z_OK)
    throw ResourceExhaustedError("zlib: out of memory");
  compressed.resize(size);
  return compressed;
}

DISTRIBUTE_INLINE absl::StatusOr<std::string> decompress_zlib(std::string_view bytes,
                                                              const std::string& name) {
  io_internal::InflateStream stream(memory_input_stream(bytes, name), Compression::Zlib);
  std::string contents;
  auto count = append_from(stream, contents.max_size(), contents);
  if (!count.ok()) return count.status();
  return contents;
}

DISTRIBUTE_INLINE absl::StatusOr<std::unique_ptr<InputStream>> open_input_stream(
    const std::string& path, Compression compression, int64_t buffer_bytes) {
  auto stream = open_input_stream(path, buffer_bytes);
  if (stream.ok() && compression == Compression::Auto) {
    auto found = io_internal::look_ahead(*stream);
    if (!found.ok()) return found.status();
    compression = *found;
  }
  if (!stream.ok() || compression == Compression::None) return stream;
  return std::make_unique<io_internal::InflateStream>(*std::move(stream), compression);
}

DISTRIBUTE_INLINE absl::StatusOr<std::unique_ptr<WritableFile>> create_file(
    const std::string& path, Compression compression) {
  if (compression == Compression::Auto)
    return make_status(StatusCode::InvalidArgument,
                       path + ": say how the file is to be compressed: Auto is for reading");
  auto fs = file_system_for(path);
  if (!fs.ok()) return fs.status();
  auto file = (*fs)->create(path);
  if (!file.ok() || compression == Compression::None) return file;
  return std::make_unique<io_internal::DeflateFile>(*std::move(file), compression,
                                                    (*fs)->has_atomic_move());
}

}  // namespace distribute::io
