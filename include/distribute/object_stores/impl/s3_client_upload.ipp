#pragma once
#include <distribute/base/threads.hpp>
#include <distribute/object_stores/detail/s3_client.hpp>

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/file_system.hpp>

#include <algorithm>
#include <deque>
#include <thread>
#include <utility>

namespace distribute::io_internal {

/// One part that a thread of its own uploads.
class S3PartUpload {
 public:
  S3PartUpload(io::S3Client& client, const io::S3Path& path, const std::string& id, int number,
               std::string bytes)
      : bytes_(std::move(bytes)) {
    const auto upload = [this, &client, path, id, number, share = CpuShareScope::current()] {
      const CpuShareScope counted(share);
      etag_ = client.upload_part(path, id, number, bytes_);
    };
    base_internal::start_helpers(threads_, 1, "uploading a part", upload);
    if (threads_.empty()) upload();
  }
  S3PartUpload(const S3PartUpload&) = delete;
  ~S3PartUpload() { join(); }
  absl::StatusOr<std::string> wait() {
    join();
    return std::move(etag_);
  }

 private:
  void join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  std::string bytes_;
  absl::StatusOr<std::string> etag_;
  std::vector<std::thread> threads_;  // one; none if the system has no more threads
};

class S3WritableFile final : public io::WritableFile {
 public:
  S3WritableFile(std::shared_ptr<io::S3Client> client, io::S3Path path)
      : client_(std::move(client)), path_(std::move(path)) {}
  ~S3WritableFile() override {
    if (!closed_) give_up();
  }
  DISTRIBUTE_INLINE absl::Status append(std::string_view bytes) override;
  absl::Status flush() override { return status_; }
  absl::Status sync() override { return status_; }
  DISTRIBUTE_INLINE absl::Status close() override;

 private:
  int64_t part_bytes() const;
  absl::Status start_part();
  /// Waits until at most `count` parts are being uploaded.
  absl::Status settle(size_t count);
  absl::Status finish();
  void give_up();

  std::shared_ptr<io::S3Client> client_;
  io::S3Path path_;
  std::string buffer_;
  int64_t size_ = 0;
  std::string id_;                                     // empty before the first part
  std::vector<std::string> etags_;                     // of the finished parts
  std::deque<std::unique_ptr<S3PartUpload>> uploads_;  // parts being uploaded, after those
  absl::Status status_;                                // the first error
  bool closed_ = false;
};

/// The size of the next part: 10000 parts must hold the object, whose size is unknown.
DISTRIBUTE_INLINE int64_t S3WritableFile::part_bytes() const {
  return client_->options().part_bytes * (1 + int64_t(etags_.size() + uploads_.size()) / 1000);
}

DISTRIBUTE_INLINE absl::Status S3WritableFile::append(std::string_view bytes) {
  if (closed_)
    return make_status(StatusCode::FailedPrecondition, path_.str() + ": the file is closed");
  while (status_.ok() && !bytes.empty()) {
    const size_t room = size_t(part_bytes()) - std::min(buffer_.size(), size_t(part_bytes()));
    const size_t count = std::min(room, bytes.size());
    if (count == room) buffer_.reserve(buffer_.size() + room);  // the buffer grows no further
    buffer_.append(bytes.substr(0, count));
    bytes.remove_prefix(count);
    size_ += int64_t(count);
    // More bytes are known to come, so the last part is never empty.
    if (!bytes.empty()) status_ = start_part();
  }
  if (!status_.ok()) give_up();
  return status_;
}

DISTRIBUTE_INLINE absl::Status S3WritableFile::settle(size_t count) {
  absl::Status status;
  while (uploads_.size() > count) {
    auto etag = uploads_.front()->wait();
    uploads_.pop_front();
    status.Update(etag.status());
    if (etag.ok()) etags_.push_back(*std::move(etag));
  }
  return status;
}

DISTRIBUTE_INLINE absl::Status S3WritableFile::start_part() {
  if (id_.empty()) {
    auto id = client_->start_upload(path_);
    if (!id.ok()) return id.status();
    id_ = *std::move(id);
  }
  const absl::Status status = settle(size_t(client_->options().parallel) - 1);
  if (!status.ok()) return status;
  const int number = int(etags_.size() + uploads_.size()) + 1;
  uploads_.push_back(
      std::make_unique<S3PartUpload>(*client_, path_, id_, number, std::exchange(buffer_, {})));
  return absl::OkStatus();
}

DISTRIBUTE_INLINE absl::Status S3WritableFile::finish() {
  if (id_.empty()) return client_->put(path_, buffer_);
  absl::Status status = start_part();
  if (status.ok()) status = settle(0);
  return status.ok() ? client_->finish_upload(path_, id_, etags_, size_) : status;
}

DISTRIBUTE_INLINE absl::Status S3WritableFile::close() {
  if (std::exchange(closed_, true)) return status_;
  if (status_.ok()) {
    status_ = finish();
    if (!status_.ok()) give_up();
  }
  buffer_ = {};
  return status_;
}

/// Aborts the upload, so that the store does not keep, and bill, parts without an object.
DISTRIBUTE_INLINE void S3WritableFile::give_up() {
  uploads_.clear();
  buffer_ = {};
  if (!id_.empty()) client_->abort_upload(path_, std::exchange(id_, {})).IgnoreError();
}

/// Copies every part inside the store; a failure leaves nothing behind.
DISTRIBUTE_INLINE absl::Status copy_in_parts(io::S3Client& client, const io::S3Path& from,
                                             const io::S3Path& to, int64_t size) {
  auto id = client.start_upload(to);
  if (!id.ok()) return id.status();
  const int64_t part = std::max(client.options().copy_part_bytes, size / 10'000 + 1);
  std::vector<std::string> etags;
  absl::Status status;
  for (int64_t offset = 0; status.ok() && offset < size; offset += part) {
    auto etag = client.copy_part(from, to, *id, int(etags.size()) + 1, offset,
                                 std::min(part, size - offset));
    status = etag.status();
    if (etag.ok()) etags.push_back(*std::move(etag));
  }
  if (status.ok()) status = client.finish_upload(to, *id, etags, size);
  if (!status.ok()) client.abort_upload(to, *id).IgnoreError();
  return status;
}

}  // namespace distribute::io_internal

namespace distribute::io {

DISTRIBUTE_INLINE std::unique_ptr<WritableFile> s3_writable_file(std::shared_ptr<S3Client> client,
                                                                 S3Path path) {
  return std::make_unique<io_internal::S3WritableFile>(std::move(client), std::move(path));
}

DISTRIBUTE_INLINE absl::Status copy_s3_object(S3Client& client, const S3Path& from,
                                              const S3Path& to, int64_t size) {
  if (size <= client.options().copy_part_bytes) return client.copy(from, to);
  return io_internal::copy_in_parts(client, from, to, size);
}

}  // namespace distribute::io
