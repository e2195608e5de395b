#pragma once
#if DISTRIBUTE_HAS_LIBZIP
#include <distribute/base/error.hpp>
#include <distribute/saving/zip_file.hpp>

#include <memory>

#include <zip.h>

namespace distribute::saving {

/// An archive in memory.
class ZipArchive {
 public:
  /// An empty one unless there are bytes, which the caller keeps alive.
  explicit ZipArchive(const std::string* bytes) {
    zip_error_t error;
    zip_error_init(&error);
    source_ = bytes ? zip_source_buffer_create(bytes->data(), bytes->size(), 0, &error)
                    : zip_source_buffer_create(nullptr, 0, 0, &error);
    if (source_) {
      zip_source_keep(source_);
      archive_ =
          zip_open_from_source(source_, bytes ? ZIP_RDONLY : ZIP_CREATE | ZIP_TRUNCATE, &error);
      if (!archive_) zip_source_free(source_);  // the reference that it would have taken
    }
    problem_ = zip_error_strerror(&error);
    zip_error_fini(&error);
  }
  ~ZipArchive() {
    if (archive_) zip_discard(archive_);
    if (source_) zip_source_free(source_);
  }
  ZipArchive(const ZipArchive&) = delete;

  zip_t* get() const { return archive_; }
  const std::string& problem() const { return problem_; }
  void add(const std::string& name, const std::string& bytes) {
    zip_source_t* source = zip_source_buffer(archive_, bytes.data(), bytes.size(), 0);
    const zip_int64_t index = source ? zip_file_add(archive_, name.c_str(), source, 0) : -1;
    if (index < 0) throw InternalError(str_cat("zip: ", zip_strerror(archive_)));
    zip_set_file_compression(archive_, zip_uint64_t(index), ZIP_CM_STORE, 0);
  }
  /// Closes it and gives its bytes.
  std::string finish() {
    if (zip_close(archive_) != 0) throw InternalError(str_cat("zip: ", zip_strerror(archive_)));
    archive_ = nullptr;
    zip_stat_t stat;
    zip_stat_init(&stat);
    std::string bytes;
    if (zip_source_stat(source_, &stat) == 0 && zip_source_open(source_) == 0) {
      bytes.resize(size_t(stat.size));
      const zip_int64_t got = zip_source_read(source_, bytes.data(), bytes.size());
      zip_source_close(source_);
      if (got == zip_int64_t(bytes.size())) return bytes;
    }
    throw InternalError("zip: the library did not give the bytes of the archive");
  }

 private:
  zip_source_t* source_ = nullptr;
  zip_t* archive_ = nullptr;
  std::string problem_;
};

DISTRIBUTE_INLINE bool has_zip() { return true; }

DISTRIBUTE_INLINE void check_opened(const ZipArchive& archive, const std::string& bytes,
                                    const std::string& name) {
  if (!archive.get() || bytes.empty())  // no bytes would be an archive without files
    throw DataLossError(str_cat(name, ": no zip archive, or damaged: ", archive.problem()));
}

DISTRIBUTE_INLINE std::vector<std::string> zip_entries(const std::string& bytes,
                                                       const std::string& name) {
  const ZipArchive archive(&bytes);
  check_opened(archive, bytes, name);
  std::vector<std::string> entries;
  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i)
    if (const char* entry = zip_get_name(archive.get(), zip_uint64_t(i), 0))
      entries.push_back(entry);
  return entries;
}

DISTRIBUTE_INLINE std::string read_zip_entry(const std::string& bytes, const std::string& entry,
                                             const std::string& name) {
  constexpr uint64_t kMostGrowth = 1100;  // zlib's is 1,032
  const ZipArchive archive(&bytes);
  check_opened(archive, bytes, name);
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_stat(archive.get(), entry.c_str(), 0, &stat) != 0)
    throw NotFoundError(str_cat(name, ": there is no '", entry, "' in this archive"));
  if (stat.size / kMostGrowth > bytes.size())
    throw ResourceExhaustedError(str_cat(name, ": '", entry, "' would have ", stat.size, " bytes"));
  const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file(
      zip_fopen(archive.get(), entry.c_str(), 0), zip_fclose);
  std::string contents(size_t(stat.size), '\0');
  if (!file || zip_fread(file.get(), contents.data(), contents.size()) != zip_int64_t(stat.size))
    throw DataLossError(str_cat(name, ": '", entry, "' is damaged or cut off"));
  char beyond = 0;
  if (zip_fread(file.get(), &beyond, 1) != 0)  // checks the sum at the end
    throw DataLossError(str_cat(name, ": '", entry, "' is damaged"));
  return contents;
}

DISTRIBUTE_INLINE std::string encode_zip(
    const std::vector<std::pair<std::string, std::string>>& files) {
  ZipArchive archive(nullptr);
  if (!archive.get()) throw InternalError(str_cat("zip: ", archive.problem()));
  for (const auto& [name, bytes] : files) archive.add(name, bytes);
  return archive.finish();
}

}  // namespace distribute::saving
#endif
