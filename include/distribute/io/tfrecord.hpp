#pragma once
/// TFRecord files: a row of byte strings, each with checksums of its length and its bytes.

#include <distribute/io/gzip.hpp>

namespace distribute::io {

/// The framed record: length, its checksum, the bytes, their checksum.
std::string frame_record(std::string_view record);

/// Writes records. Thread-compatible.
/// Source  tf.io.TFRecordWriter
class RecordWriter {
 public:
  /// Creates the file, or empties it when it exists.
  static absl::StatusOr<RecordWriter> create(const std::string& path,
                                             Compression compression = Compression::None);

  absl::Status write(std::string_view record);
  absl::Status flush() { return file_->flush(); }
  absl::Status close() { return file_->close(); }

 private:
  explicit RecordWriter(std::unique_ptr<WritableFile> file) : file_(std::move(file)) {}

  std::unique_ptr<WritableFile> file_;
};

/// Reads records in order. Thread-compatible.
/// Source  tf.data.TFRecordDataset
class RecordReader {
 public:
  static absl::StatusOr<RecordReader> open(const std::string& path,
                                           Compression compression = Compression::None);
  explicit RecordReader(std::unique_ptr<InputStream> stream) : stream_(std::move(stream)) {}

  /// Puts the next record into `record`; false at the end of the file. A cut-off record or a
  /// wrong checksum is DataLoss with file, record number and offset.
  absl::StatusOr<bool> next(std::string& record);

 private:
  absl::Status damaged(const std::string& reason) const;

  std::unique_ptr<InputStream> stream_;
  int64_t offset_ = 0;  // of the record being read, in decompressed bytes
  int64_t record_ = 0;
};

}  // namespace distribute::io

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/io/impl/tfrecord.ipp>
#endif
