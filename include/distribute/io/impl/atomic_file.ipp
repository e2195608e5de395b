#pragma once
#include <distribute/io/file_system.hpp>

#include <utility>

#include <unistd.h>

namespace distribute::io_internal {

/// Makes a random name, so that processes on several machines do not collide in one directory.
DISTRIBUTE_INLINE std::string temporary_name(const std::string& path) {
  uint64_t number = 0;
  if (::getentropy(&number, sizeof(number)) != 0) number = uint64_t(::getpid());
  return path + ".tempstate" + std::to_string(number);
}

}  // namespace distribute::io_internal

namespace distribute::io {

DISTRIBUTE_INLINE AtomicFile::AtomicFile(FileSystem& fs, const std::string& path,
                                         const std::string& target)
    : fs_(&fs),
      path_(target.empty() ? path : target),
      in_place_(!fs.has_atomic_move() || target.empty()) {
  if (!in_place_) temporary_ = io_internal::temporary_name(path_);
}

DISTRIBUTE_INLINE absl::StatusOr<AtomicFile> AtomicFile::create(const std::string& path) {
  auto fs = file_system_for(path);
  if (!fs.ok()) return fs.status();
  const auto target = (*fs)->output_target(path);
  if (!target.ok()) return target.status();
  AtomicFile result(**fs, path, *target);
  const absl::Status made = (*fs)->make_dirs(directory_of(result.path_));
  if (!made.ok()) return made;
  auto file = (*fs)->create(result.in_place_ ? result.path_ : result.temporary_);
  if (!file.ok()) {
    result.temporary_.clear();
    return file.status();
  }
  result.file_ = *std::move(file);
  return result;
}

DISTRIBUTE_INLINE AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : fs_(other.fs_),
      path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      in_place_(other.in_place_),
      file_(std::move(other.file_)),
      status_(other.status_) {}

DISTRIBUTE_INLINE AtomicFile::~AtomicFile() {
  if (temporary_.empty()) return;
  file_.reset();
  fs_->remove_file(temporary_).IgnoreError();
}

DISTRIBUTE_INLINE absl::Status AtomicFile::append(std::string_view bytes) {
  if (status_.ok()) status_ = file_->append(bytes);
  return status_;
}

DISTRIBUTE_INLINE absl::Status AtomicFile::prepare() {
  if (!file_ || in_place_) return status_;
  if (status_.ok()) status_ = file_->sync();
  if (status_.ok()) status_ = file_->close();
  if (status_.ok()) file_.reset();
  return status_;
}

DISTRIBUTE_INLINE absl::Status AtomicFile::commit() {
  const absl::Status prepared = prepare();
  if (!prepared.ok()) return prepared;
  if (in_place_) {
    if (file_) status_ = file_->close();
    file_.reset();
    return status_;
  }
  const absl::Status renamed = fs_->rename(temporary_, path_);
  if (!renamed.ok()) return renamed;
  temporary_.clear();
  return fs_->sync_directory(directory_of(path_));
}

DISTRIBUTE_INLINE absl::Status write_file_atomically(const std::string& path,
                                                     std::string_view bytes) {
  auto file = AtomicFile::create(path);
  if (!file.ok()) return file.status();
  const absl::Status status = file->append(bytes);
  return status.ok() ? file->commit() : status;
}

}  // namespace distribute::io
