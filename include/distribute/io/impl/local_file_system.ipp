#pragma once
#include <distribute/base/detail/descriptors.hpp>
#include <distribute/base/detail/file_size_signal.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/io/detail/open_output.hpp>
#include <distribute/io/file_system.hpp>

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace distribute::io_internal {

DISTRIBUTE_INLINE std::string local_path(const std::string& path) {
  return path.starts_with("file://") ? path.substr(7) : path;
}

DISTRIBUTE_INLINE StatusCode code_of_errno(int error) {
  switch (error) {
    case ENOENT: return StatusCode::NotFound;
    case EEXIST: return StatusCode::AlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS: return StatusCode::PermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE: return StatusCode::ResourceExhausted;
    case EISDIR:
    case ENOTDIR:
    case ENOTEMPTY:
    case ELOOP:
    case EXDEV: return StatusCode::FailedPrecondition;
    case ENAMETOOLONG:
    case EINVAL: return StatusCode::InvalidArgument;
    case EIO: return StatusCode::DataLoss;
    default: return StatusCode::Unknown;
  }
}

DISTRIBUTE_INLINE const char* cure_of_errno(int error) {
  switch (error) {
    case ENOSPC: return "; free some space or choose another directory";
    case EDQUOT: return "; the disk quota is used up: remove files or choose another directory";
    case EFBIG: return "; the file would pass the size limit of this process (ulimit -f)";
    case ELOOP: return "; links lead back to themselves";
    case EACCES:
    case EPERM: return "; check owner and rights of the file and its directory";
    case EROFS: return "; the disk is mounted read-only";
    default: return "";
  }
}

/// Makes "cannot <doing> <path>: <reason><cure>" with the matching code.
DISTRIBUTE_INLINE absl::Status errno_status(int error, const char* doing, const std::string& path) {
  return make_status(code_of_errno(error),
                     str_cat("cannot ", doing, " ", untrusted::printable(path), ": ",
                             base_internal::system_error_text(error), cure_of_errno(error)));
}

/// Owns a file descriptor.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&&) = delete;
  ~FileDescriptor() { close(); }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  /// Closes the descriptor; returns 0 or the error number.
  int close() {
    const int fd = std::exchange(fd_, -1);
    return fd >= 0 && ::close(fd) != 0 && errno != EINTR ? errno : 0;
  }

 private:
  int fd_;
};

DISTRIBUTE_INLINE FileDescriptor open_descriptor(const std::string& path, int flags) {
  int fd;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  } while (fd < 0 && errno == EINTR);
  return FileDescriptor(fd);
}

DISTRIBUTE_INLINE bool is_pipe(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISFIFO(info.st_mode);
}

/// A reader that waits takes the first that opens the pipe for its writer. So a pipe that has a
/// reader is opened once, and stays open.
DISTRIBUTE_INLINE int open_output(const std::string& path, int flags) {
  if (!is_pipe(path)) return open_descriptor(path, flags).release();
  FileDescriptor pipe = open_descriptor(path, flags | O_NONBLOCK);
  if (pipe.get() < 0 && errno == ENXIO) {
    log_warning("io", str_cat(path, " is a pipe that nothing reads: waiting for a reader"));
    return open_descriptor(path, flags).release();
  }
  if (pipe.get() >= 0) ::fcntl(pipe.get(), F_SETFL, flags & (O_ACCMODE | O_APPEND));
  return pipe.release();
}

DISTRIBUTE_INLINE std::FILE* append_to(const std::string& path) {
  const int descriptor = open_output(path, O_WRONLY | O_CREAT | O_APPEND);
  return descriptor < 0 ? nullptr : ::fdopen(descriptor, "a");
}

/// Returns whether a file is mounted at its name, as containers mount single files: no other file
/// can be renamed to that name.
DISTRIBUTE_INLINE bool is_mounted(const std::string& path) {
#ifdef STATX_ATTR_MOUNT_ROOT
  struct statx info {};
  return ::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, 0, &info) == 0 &&
         (info.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
#else
  return false;
#endif
}

/// Gives a file the owner and the rights of the regular file that it is going to replace.
DISTRIBUTE_INLINE void take_owner_and_rights(const std::string& path, const std::string& of) {
  struct stat mine {
  }, old{};
  if (::lstat(of.c_str(), &old) != 0 || !S_ISREG(old.st_mode)) return;
  if (::lstat(path.c_str(), &mine) != 0 || !S_ISREG(mine.st_mode)) return;
  const bool same_owner = mine.st_uid == old.st_uid && mine.st_gid == old.st_gid;
  if (same_owner || ::chown(path.c_str(), old.st_uid, old.st_gid) == 0)
    ::chmod(path.c_str(), old.st_mode & 0777);
}

struct DirectoryCloser {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

class LocalRandomAccessFile final : public io::RandomAccessFile {
 public:
  LocalRandomAccessFile(std::string path, FileDescriptor fd, int64_t size)
      : path_(std::move(path)), fd_(std::move(fd)), size_(size) {}
  const std::string& path() const override { return path_; }
  int64_t size() const override { return size_; }
  DISTRIBUTE_INLINE absl::StatusOr<int64_t> read_some(int64_t offset,
                                                      std::span<char> out) const override;

 private:
  std::string path_;
  FileDescriptor fd_;
  int64_t size_;
};

DISTRIBUTE_INLINE absl::StatusOr<int64_t> LocalRandomAccessFile::read_some(
    int64_t offset, std::span<char> out) const {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t count =
        ::pread(fd_.get(), out.data() + done, out.size() - done, offset + int64_t(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno_status(errno, "read", path_);
    if (count == 0) break;
    done += size_t(count);
  }
  return int64_t(done);
}

/// Gathers small pieces into 64 KiB writes; large pieces go straight through.
class LocalWritableFile final : public io::WritableFile {
 public:
  LocalWritableFile(std::string path, FileDescriptor fd)
      : path_(std::move(path)), fd_(std::move(fd)) {}
  ~LocalWritableFile() override { close().IgnoreError(); }
  DISTRIBUTE_INLINE absl::Status append(std::string_view bytes) override;
  DISTRIBUTE_INLINE absl::Status flush() override;
  DISTRIBUTE_INLINE absl::Status sync() override;
  DISTRIBUTE_INLINE absl::Status close() override;

 private:
  absl::Status write(std::string_view bytes);

  std::string path_;
  FileDescriptor fd_;
  std::string buffer_;
};

DISTRIBUTE_INLINE absl::Status LocalWritableFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno_status(errno, "write", path_);
    bytes.remove_prefix(size_t(count));
  }
  return absl::OkStatus();
}

DISTRIBUTE_INLINE absl::Status LocalWritableFile::append(std::string_view bytes) {
  constexpr size_t kBufferBytes = 64 << 10;
  if (buffer_.size() + bytes.size() <= kBufferBytes) {
    buffer_.append(bytes);
    return absl::OkStatus();
  }
  const absl::Status status = flush();
  return status.ok() ? write(bytes) : status;
}

DISTRIBUTE_INLINE absl::Status LocalWritableFile::flush() {
  const std::string pending = std::exchange(buffer_, {});
  return write(pending);
}

DISTRIBUTE_INLINE absl::Status LocalWritableFile::sync() {
  const absl::Status status = flush();
  if (!status.ok()) return status;
  return ::fsync(fd_.get()) == 0 ? absl::OkStatus() : errno_status(errno, "sync", path_);
}

DISTRIBUTE_INLINE absl::Status LocalWritableFile::close() {
  const absl::Status status = fd_.get() >= 0 ? flush() : absl::OkStatus();
  const int error = fd_.close();
  if (!status.ok()) return status;
  return error == 0 ? absl::OkStatus() : errno_status(error, "close", path_);
}

}  // namespace distribute::io_internal

namespace distribute::io {

DISTRIBUTE_INLINE absl::StatusOr<std::unique_ptr<RandomAccessFile>> LocalFileSystem::open(
    const std::string& path) {
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  auto fd = io_internal::open_descriptor(io_internal::local_path(path), O_RDONLY | O_NONBLOCK);
  if (fd.get() < 0) return io_internal::errno_status(errno, "open", path);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return io_internal::errno_status(errno, "open", path);
  if (S_ISDIR(info.st_mode)) return io_internal::errno_status(EISDIR, "read", path);
  if (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode))
    return absl::FailedPreconditionError(
        str_cat("cannot read ", path, ": it is a pipe, and this needs a file"));
  return std::make_unique<io_internal::LocalRandomAccessFile>(path, std::move(fd), info.st_size);
}

DISTRIBUTE_INLINE absl::StatusOr<std::unique_ptr<WritableFile>> LocalFileSystem::create(
    const std::string& path) {
  base_internal::ignore_file_size_signal();
  const std::string local = io_internal::local_path(path);
  io_internal::FileDescriptor fd(io_internal::open_output(local, O_WRONLY | O_CREAT | O_TRUNC));
  if (fd.get() < 0) return io_internal::errno_status(errno, "create", path);
  return std::make_unique<io_internal::LocalWritableFile>(path, std::move(fd));
}

DISTRIBUTE_INLINE absl::StatusOr<std::string> LocalFileSystem::output_target(
    const std::string& path) {
  std::string target = io_internal::local_path(path);
  struct stat info {};
  for (int links = 0; ::lstat(target.c_str(), &info) == 0; ++links) {
    if (S_ISDIR(info.st_mode)) return io_internal::errno_status(EISDIR, "write", path);
    if (S_ISREG(info.st_mode)) return io_internal::is_mounted(target) ? "" : target;
    if (!S_ISLNK(info.st_mode)) return "";
    char next[4096];
    const ssize_t size = ::readlink(target.c_str(), next, sizeof next);
    if (size < 0) return io_internal::errno_status(errno, "follow", path);
    if (links == 40) return io_internal::errno_status(ELOOP, "follow", path);
    target = join_path(directory_of(target), std::string_view(next, size_t(size)));
  }
  if (errno == ENOENT) return target;
  return io_internal::errno_status(errno, "look at", path);
}

DISTRIBUTE_INLINE absl::StatusOr<bool> LocalFileSystem::exists(const std::string& path) {
  struct stat info {};
  if (::stat(io_internal::local_path(path).c_str(), &info) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return io_internal::errno_status(errno, "look at", path);
}

DISTRIBUTE_INLINE absl::StatusOr<bool> LocalFileSystem::is_directory(const std::string& path) {
  struct stat info {};
  if (::stat(io_internal::local_path(path).c_str(), &info) == 0) return S_ISDIR(info.st_mode);
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return io_internal::errno_status(errno, "look at", path);
}

DISTRIBUTE_INLINE absl::StatusOr<int64_t> LocalFileSystem::file_size(const std::string& path) {
  struct stat info {};
  if (::stat(io_internal::local_path(path).c_str(), &info) == 0) return info.st_size;
  return io_internal::errno_status(errno, "look at", path);
}

DISTRIBUTE_INLINE absl::StatusOr<std::vector<std::string>> LocalFileSystem::list_directory(
    const std::string& path) {
  const std::unique_ptr<DIR, io_internal::DirectoryCloser> directory(
      ::opendir(io_internal::local_path(path).c_str()));
  if (!directory) return io_internal::errno_status(errno, "list", path);
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
    errno = 0;  // readdir reports an error by errno alone
  }
  if (errno != 0) return io_internal::errno_status(errno, "list", path);
  std::sort(names.begin(), names.end());
  return names;
}

DISTRIBUTE_INLINE absl::Status LocalFileSystem::make_dirs(const std::string& path) {
  const std::string local = io_internal::local_path(path);
  if (local.empty() || ::mkdir(local.c_str(), 0777) == 0) return absl::OkStatus();
  const int error = errno;
  auto there = is_directory(path);
  if (there.ok() && *there) return absl::OkStatus();
  const std::string parent = directory_of(path);
  if (error != ENOENT || parent.size() >= path.size()) {
    return io_internal::errno_status(error, "make directory", path);
  }
  const absl::Status status = make_dirs(parent);
  if (!status.ok()) return status;
  if (::mkdir(local.c_str(), 0777) == 0 || errno == EEXIST) return absl::OkStatus();
  return io_internal::errno_status(errno, "make directory", path);
}

DISTRIBUTE_INLINE absl::Status LocalFileSystem::rename(const std::string& from,
                                                       const std::string& to) {
  const std::string source = io_internal::local_path(from), target = io_internal::local_path(to);
  io_internal::take_owner_and_rights(source, target);
  if (std::rename(source.c_str(), target.c_str()) == 0) return absl::OkStatus();
  return io_internal::errno_status(errno, "rename", str_cat(from, " to ", to));
}

DISTRIBUTE_INLINE absl::Status LocalFileSystem::remove_file(const std::string& path) {
  if (::unlink(io_internal::local_path(path).c_str()) == 0) return absl::OkStatus();
  return io_internal::errno_status(errno, "remove", path);
}

DISTRIBUTE_INLINE absl::Status LocalFileSystem::remove_directory(const std::string& path) {
  if (::rmdir(io_internal::local_path(path).c_str()) == 0) return absl::OkStatus();
  return io_internal::errno_status(errno, "remove directory", path);
}

DISTRIBUTE_INLINE absl::Status LocalFileSystem::sync_directory(const std::string& path) {
  const std::string local = path.empty() ? "." : io_internal::local_path(path);
  auto fd = io_internal::open_descriptor(local, O_RDONLY | O_DIRECTORY);
  if (fd.get() < 0) return io_internal::errno_status(errno, "open", path);
  // Some network file systems cannot sync a directory and give EINVAL; that is ignored.
  if (::fsync(fd.get()) == 0 || errno == EINVAL) return absl::OkStatus();
  return io_internal::errno_status(errno, "sync directory", path);
}

DISTRIBUTE_INLINE FileSystem& local_file_system() { return in_process<LocalFileSystem>(); }

}  // namespace distribute::io
