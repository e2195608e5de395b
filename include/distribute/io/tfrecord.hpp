#pragma once
/// TFRecord files: sequences of byte strings, each with checksums of its length and its bytes.

#include <distribute/io/compression.hpp>

namespace distribute::io {

/// Frames a record: its length, a checksum of the length, the bytes, a checksum of the bytes.
std::string frame_record(std::string_view record);

/// Writes records. Thread-compatible. Call close(): on an object store the file does not appear
/// before.
/// Source  tf.io.TFRecordWriter
class RecordWriter {
 public:
  /// Creates the file, or empties it when it exists.
  static absl::StatusOr<RecordWriter> create(const std::string& path,
                                             Compression compression = Compression::None);
  explicit RecordWriter(std::unique_ptr<WritableFile> file) : file_(std::move(file)) {}

  /// Appends one record; flush() and close() act on the file.
  absl::Status write(std::string_view record);
  absl::Status flush() { return file_->flush(); }
  absl::Status close() { return file_->close(); }

 private:
  std::unique_ptr<WritableFile> file_;
};

/// Reads records in order. Thread-compatible. A cut-off record or a wrong checksum is DataLoss with
/// file, record number and offset.
/// Source  tf.data.TFRecordDataset
class RecordReader {
 public:
  static absl::StatusOr<RecordReader> open(const std::string& path,
                                           Compression compression = Compression::None,
                                           int64_t buffer_bytes = kReadBufferBytes);
  explicit RecordReader(std::unique_ptr<InputStream> stream) : stream_(std::move(stream)) {}

  /// Puts the next record into `record`; false at the end of the file.
  absl::StatusOr<bool> next(std::string& record);
  /// Returns whether the file ends within the record that the last call found damaged, as after a
  /// crash of the program that wrote it.
  bool is_cut_off() const { return is_cut_off_; }
  /// Skips up to `count` records and returns how many there were. It checks their lengths but not
  /// their bytes, which are not even read where the file is not compressed.
  absl::StatusOr<int64_t> skip(int64_t count);

  /// The offset of the next record, in decompressed bytes, and its number.
  struct Position {
    int64_t offset = 0;
    int64_t record = 0;
  };
  Position position() const { return {offset_, record_}; }
  /// Continues at a position that a reader of the same file gave. Only a reader that has read
  /// nothing may seek.
  absl::Status seek(const Position& position);

 private:
  /// Reads the 12 bytes in front of a record; returns false at the end of the file.
  absl::StatusOr<bool> read_header(uint64_t& size);
  absl::Status damaged(const std::string& reason) const;
  absl::Status cut_off();
  void step(uint64_t size);

  std::unique_ptr<InputStream> stream_;
  int64_t offset_ = 0;
  int64_t record_ = 0;
  bool is_cut_off_ = false;
};

}  // namespace distribute::io
