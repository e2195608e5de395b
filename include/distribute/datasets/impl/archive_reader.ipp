#pragma once
#if DISTRIBUTE_HAS_LIBARCHIVE
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/datasets/detail/archive_reader.hpp>

#include <optional>
#include <vector>

#include <archive.h>
#include <archive_entry.h>

namespace distribute::data::data_internal {

DISTRIBUTE_INLINE bool has_libarchive() { return true; }

/// Invariants:
/// 1. What reading the file throws is kept in failure_, as libarchive is C, and thrown behind the
///    call.
class TarReader final : public ArchiveReader {
 public:
  explicit TarReader(const std::string& path)
      : path_(path),
        file_(value_or_throw(io::open_input_stream(path))),
        archive_(archive_read_new()) {
    archive_read_support_filter_all(archive_);
    archive_read_support_format_tar(archive_);
    archive_read_support_format_empty(archive_);
    archive_read_set_read_callback(archive_, read);
    archive_read_set_skip_callback(archive_, skip);
    archive_read_set_callback_data(archive_, this);
  }
  ~TarReader() override { archive_read_free(archive_); }
  bool next(std::string& name) override {
    if (!is_open_) check(archive_read_open1(archive_));
    is_open_ = true;
    archive_entry* entry = nullptr;
    do {
      const int status = archive_read_next_header(archive_, &entry);
      if (status == ARCHIVE_EOF) return false;
      check(status);
    } while (archive_entry_filetype(entry) != AE_IFREG);
    name = archive_entry_pathname(entry);
    size_ = archive_entry_size(entry);
    return true;
  }
  std::string contents() override {
    std::string bytes;
    const void* block = nullptr;
    size_t size = 0;
    la_int64_t offset = 0;
    int status = ARCHIVE_OK;
    while ((status = archive_read_data_block(archive_, &block, &size, &offset)) == ARCHIVE_OK) {
      bytes.resize(size_t(offset));  // a hole in a sparse file
      bytes.append(static_cast<const char*>(block), size);
    }
    if (status != ARCHIVE_EOF) check(status);
    if (int64_t(bytes.size()) != size_) throw DataLossError(path_ + ": a file in it is cut off");
    return bytes;
  }

 private:
  static la_ssize_t read(archive* archive, void* self, const void** block) {
    auto& own = *static_cast<TarReader*>(self);
    const auto size = own.file_->read_some(own.block_);
    *block = own.block_.data();
    if (size.ok()) return la_ssize_t(*size);
    own.failure_ = size.status();
    archive_set_error(archive, EIO, "the file cannot be read");
    return ARCHIVE_FATAL;
  }
  static la_int64_t skip(archive*, void* self, la_int64_t count) {
    auto& own = *static_cast<TarReader*>(self);
    const auto size = own.file_->skip(uint64_t(count));
    return size.ok() ? la_int64_t(*size) : 0;  // a read comes next, which gives the error
  }
  void check(int status) {
    if (status == ARCHIVE_OK || status == ARCHIVE_WARN) return;
    throw_if_error(failure_);
    const char* const problem = archive_error_string(archive_);
    throw DataLossError(
        str_cat(path_, ": not a whole tar archive: ", problem ? problem : "unknown"));
  }

  std::string path_;
  std::unique_ptr<io::InputStream> file_;
  std::vector<char> block_ = std::vector<char>(256 << 10);
  absl::Status failure_;
  archive* archive_;
  bool is_open_ = false;
  int64_t size_ = 0;
};

DISTRIBUTE_INLINE std::unique_ptr<ArchiveReader> open_archive(const std::string& path) {
  return std::make_unique<TarReader>(path);
}

}  // namespace distribute::data::data_internal
#endif
