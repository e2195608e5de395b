#pragma once
#include <distribute/base/json.hpp>
#include <distribute/object_stores/webhdfs_file_system.hpp>

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/object_stores/detail/read_ahead.hpp>

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

namespace distribute::io_internal {

/// Gives a member of the answer, which WebHDFS wraps into one object; null when it is missing.
DISTRIBUTE_INLINE nlohmann::json webhdfs_answer(const io::HttpResponse& response,
                                                const char* member) {
  const auto json = json_of(response.body);
  return json.is_object() && json.contains(member) ? json[member] : nlohmann::json();
}

DISTRIBUTE_INLINE int64_t webhdfs_length(const nlohmann::json& status) {
  const auto found = status.is_object() ? status.find("length") : status.end();
  return status.is_object() && found != status.end() && found->is_number() ? found->get<int64_t>()
                                                                           : -1;
}

/// Makes the error for a server that answers everything, such as a web server.
DISTRIBUTE_INLINE absl::Status no_webhdfs(const std::string& path, const char* wanted) {
  return make_status(StatusCode::FailedPrecondition,
                     str_cat(path, ": the answer is no ", wanted,
                             "; is the address WebHDFS (DISTRIBUTE_WEBHDFS)?"));
}

/// Gathers bytes and sends them in pieces.
class WebHdfsWritableFile final : public io::WritableFile {
 public:
  WebHdfsWritableFile(io::WebHdfsClient& client, io::WebHdfsPath path)
      : client_(client), path_(std::move(path)) {}
  ~WebHdfsWritableFile() override { close().IgnoreError(); }
  DISTRIBUTE_INLINE absl::Status append(std::string_view bytes) override;
  DISTRIBUTE_INLINE absl::Status flush() override;
  absl::Status sync() override { return flush(); }
  DISTRIBUTE_INLINE absl::Status close() override;

 private:
  absl::Status send(std::string_view bytes);
  absl::Status append_piece(std::string_view bytes);
  absl::StatusOr<int64_t> length_there();

  io::WebHdfsClient& client_;
  const io::WebHdfsPath path_;
  std::string buffer_;
  int64_t sent_ = 0;
  bool created_ = false, closed_ = false;
  absl::Status status_;  // the first error
};

DISTRIBUTE_INLINE absl::Status WebHdfsWritableFile::append(std::string_view bytes) {
  if (closed_) return make_status(StatusCode::FailedPrecondition, path_.whole + ": is closed");
  const size_t piece = size_t(client_.options().write_piece_bytes);
  while (status_.ok() && !bytes.empty()) {
    const size_t count = std::min(piece - buffer_.size(), bytes.size());
    if (buffer_.empty() && count == piece) {
      status_ = send(bytes.substr(0, count));
    } else {
      buffer_.append(bytes.substr(0, count));
      if (buffer_.size() == piece) flush().IgnoreError();  // status_ keeps the error
    }
    bytes.remove_prefix(count);
  }
  return status_;
}

DISTRIBUTE_INLINE absl::Status WebHdfsWritableFile::flush() {
  if (status_.ok() && (!created_ || !buffer_.empty())) status_ = send(buffer_);
  buffer_.clear();
  return status_;
}

DISTRIBUTE_INLINE absl::Status WebHdfsWritableFile::close() {
  if (!std::exchange(closed_, true)) flush().IgnoreError();
  return status_;
}

DISTRIBUTE_INLINE absl::Status WebHdfsWritableFile::send(std::string_view bytes) {
  absl::Status status;
  if (created_) {
    status = append_piece(bytes);
  } else {
    status = client_
                 .call(path_, {.method = "PUT",
                               .op = "CREATE",
                               .query = {{"overwrite", "true"}},
                               .has_data = true,
                               .body = bytes})
                 .status();
    created_ = status.ok();
  }
  if (status.ok()) sent_ += int64_t(bytes.size());
  return status;
}

DISTRIBUTE_INLINE absl::StatusOr<int64_t> WebHdfsWritableFile::length_there() {
  const auto response = client_.call(path_, {.op = "GETFILESTATUS"});
  if (!response.ok()) return response.status();
  return webhdfs_length(webhdfs_answer(*response, "FileStatus"));
}

/// Appends a piece. A second attempt could repeat bytes, so after a failure the file's length
/// decides.
DISTRIBUTE_INLINE absl::Status WebHdfsWritableFile::append_piece(std::string_view bytes) {
  const io::HttpRetryPolicy& retry = client_.options().retry;
  for (int attempt = 1;; ++attempt) {
    const auto response = client_.call(
        path_,
        {.method = "POST", .op = "APPEND", .has_data = true, .body = bytes, .repeats = false});
    if (response.ok() || attempt >= retry.max_attempts || !is_retryable(retry, response.status()))
      return response.status();
    io::wait_before_retry(retry, io::retry_delay(retry, attempt, response));
    const auto length = length_there();
    if (!length.ok()) return length.status();
    if (*length == sent_ + int64_t(bytes.size())) return absl::OkStatus();
    if (*length != sent_)
      return make_status(StatusCode::Aborted,
                         str_cat(path_.whole, ": ", sent_, " bytes were there, ", bytes.size(),
                                 " were sent, and now it has ", *length, "; write it again"));
  }
}

}  // namespace distribute::io_internal

namespace distribute::io {

DISTRIBUTE_INLINE absl::StatusOr<WebHdfsFileSystem::Stat> WebHdfsFileSystem::stat(
    const std::string& path) {
  const auto parsed = parse_webhdfs_path(path, client_.options());
  if (!parsed.ok()) return parsed.status();
  const auto response = client_.call(*parsed, {.op = "GETFILESTATUS"});
  if (!response.ok()) return response.status();
  const auto status = io_internal::webhdfs_answer(*response, "FileStatus");
  const int64_t length = io_internal::webhdfs_length(status);
  if (length < 0) return io_internal::no_webhdfs(path, "FileStatus");
  return Stat{length, status.value("type", "") == "DIRECTORY"};
}

DISTRIBUTE_INLINE absl::StatusOr<bool> WebHdfsFileSystem::ask(const std::string& path,
                                                              const WebHdfsCall& call) {
  const auto parsed = parse_webhdfs_path(path, client_.options());
  if (!parsed.ok()) return parsed.status();
  const auto response = client_.call(*parsed, call);
  if (!response.ok()) return response.status();
  const auto answer = io_internal::webhdfs_answer(*response, "boolean");
  // without an answer there was nothing to report
  return !answer.is_boolean() || answer.get<bool>();
}

DISTRIBUTE_INLINE absl::StatusOr<std::unique_ptr<RandomAccessFile>> WebHdfsFileSystem::open(
    const std::string& path) {
  const auto found = stat(path);
  if (!found.ok()) return found.status();
  if (found->is_directory)
    return make_status(StatusCode::FailedPrecondition, "cannot read " + path + ": Is a directory");
  auto fetch = [this, path](int64_t offset, std::span<char> out) -> absl::StatusOr<int64_t> {
    const auto parsed = parse_webhdfs_path(path, client_.options());
    if (!parsed.ok()) return parsed.status();
    const auto response = client_.call(*parsed, {.op = "OPEN",
                                                 .query = {{"length", std::to_string(out.size())},
                                                           {"offset", std::to_string(offset)}},
                                                 .has_data = true,
                                                 .sink = out});
    if (!response.ok()) return response.status();
    if (response->sink_bytes == int64_t(out.size())) return response->sink_bytes;
    return make_status(StatusCode::DataLoss,
                       str_cat(path, ": wanted ", out.size(), " bytes at offset ", offset,
                               ", came ", response->sink_bytes));
  };
  return read_ahead_file(path, found->size, std::move(fetch),
                         {.block_bytes = client_.options().read_block_bytes});
}

DISTRIBUTE_INLINE absl::StatusOr<std::unique_ptr<WritableFile>> WebHdfsFileSystem::create(
    const std::string& path) {
  auto parsed = parse_webhdfs_path(path, client_.options());
  if (!parsed.ok()) return parsed.status();
  return std::make_unique<io_internal::WebHdfsWritableFile>(client_, *std::move(parsed));
}

DISTRIBUTE_INLINE absl::StatusOr<bool> WebHdfsFileSystem::exists(const std::string& path) {
  const auto found = stat(path);
  if (found.ok() || absl::IsNotFound(found.status())) return found.ok();
  return found.status();
}

DISTRIBUTE_INLINE absl::StatusOr<bool> WebHdfsFileSystem::is_directory(const std::string& path) {
  const auto found = stat(path);
  if (found.ok() || absl::IsNotFound(found.status())) return found.ok() && found->is_directory;
  return found.status();
}

DISTRIBUTE_INLINE absl::StatusOr<int64_t> WebHdfsFileSystem::file_size(const std::string& path) {
  const auto found = stat(path);
  if (!found.ok()) return found.status();
  return found->size;
}

DISTRIBUTE_INLINE absl::StatusOr<std::vector<std::string>> WebHdfsFileSystem::list_directory(
    const std::string& path) {
  const auto parsed = parse_webhdfs_path(path, client_.options());
  if (!parsed.ok()) return parsed.status();
  const auto response = client_.call(*parsed, {.op = "LISTSTATUS"});
  if (!response.ok()) return response.status();
  const auto statuses = io_internal::webhdfs_answer(*response, "FileStatuses");
  if (!statuses.is_object()) return io_internal::no_webhdfs(path, "FileStatuses");
  std::vector<std::string> names;
  if (statuses.contains("FileStatus"))
    for (const auto& status : statuses["FileStatus"]) {
      const std::string name = status.is_object() ? status.value("pathSuffix", "") : "";
      if (name.empty())  // a file lists itself in this way
        return make_status(StatusCode::FailedPrecondition,
                           "cannot list " + path + ": Not a directory");
      names.push_back(name);
    }
  std::sort(names.begin(), names.end());
  return names;
}

DISTRIBUTE_INLINE absl::Status WebHdfsFileSystem::make_dirs(const std::string& path) {
  const auto made = ask(path, {.method = "PUT", .op = "MKDIRS"});
  if (made.ok() && !*made)
    return make_status(StatusCode::FailedPrecondition, "cannot make directory " + path);
  return made.status();
}

DISTRIBUTE_INLINE absl::Status WebHdfsFileSystem::rename(const std::string& from,
                                                         const std::string& to) {
  const auto target = parse_webhdfs_path(to, client_.options());
  if (!target.ok()) return target.status();
  const WebHdfsCall move{.method = "PUT",
                         .op = "RENAME",
                         .query = {{"destination", target->path}, {"renameoptions", "OVERWRITE"}}};
  auto moved = ask(from, move);
  if (!moved.ok() || *moved) return moved.status();
  const auto there = exists(from);
  if (!there.ok()) return there.status();
  if (!*there) return make_status(StatusCode::NotFound, "cannot rename " + from + ": not there");
  const absl::Status removed = remove_file(to);
  if (!removed.ok() && !absl::IsNotFound(removed)) return removed;
  moved = ask(from, move);
  if (!moved.ok() || *moved) return moved.status();
  return make_status(StatusCode::FailedPrecondition, str_cat("cannot rename ", from, " to ", to));
}

DISTRIBUTE_INLINE absl::Status WebHdfsFileSystem::remove_file(const std::string& path) {
  const auto found = stat(path);
  if (!found.ok()) return found.status();
  if (found->is_directory)
    return make_status(StatusCode::FailedPrecondition,
                       "cannot remove " + path + ": Is a directory");
  return remove_directory(path);
}

DISTRIBUTE_INLINE absl::Status WebHdfsFileSystem::remove_directory(const std::string& path) {
  const auto removed =
      ask(path, {.method = "DELETE", .op = "DELETE", .query = {{"recursive", "false"}}});
  if (removed.ok() && !*removed)
    return make_status(StatusCode::NotFound, "cannot remove " + path + ": not there");
  return removed.status();
}

DISTRIBUTE_INLINE absl::StatusOr<std::unique_ptr<FileSystem>> webhdfs_file_system() {
  auto options = webhdfs_options_from_environment();
  if (!options.ok()) return options.status();
  return std::make_unique<WebHdfsFileSystem>(*std::move(options));
}

}  // namespace distribute::io
