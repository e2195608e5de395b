#pragma once
#include <distribute/io/tfrecord.hpp>

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/compression.hpp>
#include <distribute/io/detail/wire.hpp>

#include <limits>

namespace distribute::io_internal {

/// Makes the 12 bytes in front of a record: its length, and a checksum of the length.
DISTRIBUTE_INLINE std::string record_header(uint64_t size) {
  std::string header;
  io::append_fixed64(header, size);
  io::append_fixed32(header, io::mask_crc(io::crc32c(header)));
  return header;
}

DISTRIBUTE_INLINE std::string record_footer(std::string_view record) {
  std::string footer;
  io::append_fixed32(footer, io::mask_crc(io::crc32c(record)));
  return footer;
}

}  // namespace distribute::io_internal

namespace distribute::io {

DISTRIBUTE_INLINE std::string frame_record(std::string_view record) {
  std::string framed = io_internal::record_header(record.size());
  return framed.append(record).append(io_internal::record_footer(record));
}

DISTRIBUTE_INLINE absl::StatusOr<RecordWriter> RecordWriter::create(const std::string& path,
                                                                    Compression compression) {
  auto file = create_file(path, compression);
  if (!file.ok()) return file.status();
  return RecordWriter(*std::move(file));
}

DISTRIBUTE_INLINE absl::Status RecordWriter::write(std::string_view record) {
  absl::Status status = file_->append(io_internal::record_header(record.size()));
  if (status.ok()) status = file_->append(record);
  if (status.ok()) status = file_->append(io_internal::record_footer(record));
  return status;
}

DISTRIBUTE_INLINE absl::StatusOr<RecordReader> RecordReader::open(const std::string& path,
                                                                  Compression compression,
                                                                  int64_t buffer_bytes) {
  auto stream = open_input_stream(path, compression, buffer_bytes);
  if (!stream.ok()) return stream.status();
  return RecordReader(*std::move(stream));
}

DISTRIBUTE_INLINE absl::Status RecordReader::damaged(const std::string& reason) const {
  return make_status(StatusCode::DataLoss, str_cat(stream_->name(), ": record ", record_,
                                                   " at offset ", offset_, " ", reason));
}

DISTRIBUTE_INLINE absl::Status RecordReader::cut_off() {
  is_cut_off_ = true;
  return damaged("is cut off");
}

DISTRIBUTE_INLINE void RecordReader::step(uint64_t size) {
  offset_ += int64_t(size) + 16;
  ++record_;
}

DISTRIBUTE_INLINE absl::StatusOr<bool> RecordReader::read_header(uint64_t& size) {
  std::string header;
  auto count = append_from(*stream_, 12, header);
  if (!count.ok()) return count.status();
  if (*count == 0) return false;
  std::string_view rest = header;
  uint32_t stored = 0;
  if (!take_fixed64(rest, size) || !take_fixed32(rest, stored)) return cut_off();
  if (stored != mask_crc(crc32c(std::string_view(header).substr(0, 8))))
    return damaged(str_cat("has a wrong checksum of its length: damaged, or not a TFRecord file",
                           offset_ == 0 && is_gzip(header)
                               ? "; it begins as a gzip file does: compression_type = Gzip or "
                                 "Auto in the options reads it, gunzip makes it plain"
                               : ""));
  if (size > std::numeric_limits<int64_t>::max() - 16) return damaged("has a senseless length");
  return true;
}

DISTRIBUTE_INLINE absl::StatusOr<bool> RecordReader::next(std::string& record) {
  record.clear();
  uint64_t size = 0;
  auto more = read_header(size);
  if (!more.ok() || !*more) return more;
  auto count = append_from(*stream_, size + 4, record);
  if (!count.ok()) return count.status();
  if (*count < size + 4) return cut_off();
  std::string_view footer = std::string_view(record).substr(size);
  uint32_t stored = 0;
  if (!take_fixed32(footer, stored)) return cut_off();
  record.resize(size);
  if (stored != mask_crc(crc32c(record))) return damaged("has a wrong checksum");
  step(size);
  return true;
}

DISTRIBUTE_INLINE absl::StatusOr<int64_t> RecordReader::skip(int64_t count) {
  int64_t done = 0;
  for (uint64_t size = 0; done < count; ++done) {
    auto more = read_header(size);
    if (!more.ok()) return more.status();
    if (!*more) break;
    auto dropped = stream_->skip(size + 4);
    if (!dropped.ok()) return dropped.status();
    if (*dropped < size + 4) return cut_off();
    step(size);
  }
  return done;
}

DISTRIBUTE_INLINE absl::Status RecordReader::seek(const Position& position) {
  auto skipped = stream_->skip(uint64_t(position.offset));
  if (!skipped.ok()) return skipped.status();
  if (int64_t(*skipped) < position.offset)
    return make_status(StatusCode::DataLoss,
                       str_cat(stream_->name(), ": record ", position.record, " at offset ",
                               position.offset, " lies behind the end of the file"));
  offset_ = position.offset;
  record_ = position.record;
  return absl::OkStatus();
}

}  // namespace distribute::io
