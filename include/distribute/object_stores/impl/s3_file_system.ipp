#pragma once
#include <distribute/object_stores/s3_file_system.hpp>

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/object_stores/detail/read_ahead.hpp>
#include <distribute/object_stores/detail/s3_client.hpp>

#include <algorithm>
#include <utility>

namespace distribute::io_internal {

/// Gives a directory's path as a prefix of keys: "dir/", or "" for the bucket.
DISTRIBUTE_INLINE io::S3Path as_directory(io::S3Path path) {
  if (!path.key.empty() && !path.key.ends_with('/')) path.key += '/';
  return path;
}

/// Calls `use` with every page of keys that start with prefix.key, until it fails.
template <std::invocable<const io::S3Listing&> Use>
absl::Status for_all_pages(io::S3Client& client, const io::S3Path& prefix,
                           const std::string& delimiter, Use use) {
  std::string continuation;
  do {
    auto page = client.list(prefix, delimiter, 1000, continuation);
    absl::Status status = page.status();
    if (status.ok()) status = use(*page);
    if (!status.ok()) return status;
    continuation = page->continuation;
  } while (!continuation.empty());
  return absl::OkStatus();
}

DISTRIBUTE_INLINE absl::StatusOr<bool> has_objects(io::S3Client& client, const io::S3Path& path) {
  auto page = client.list(as_directory(path), "", 1);
  if (!page.ok()) return page.status();
  return !page->keys.empty() || !page->prefixes.empty();
}

DISTRIBUTE_INLINE absl::Status rename_s3_directory(io::S3Client& client, const io::S3Path& from,
                                                   const io::S3Path& to) {
  const std::string old_prefix = as_directory(from).key, new_prefix = as_directory(to).key;
  if (new_prefix.starts_with(old_prefix))
    return make_status(StatusCode::InvalidArgument,
                       str_cat("cannot rename ", from.str(), " to a place inside it: ", to.str()));
  return for_all_pages(client, as_directory(from), "", [&](const io::S3Listing& page) {
    absl::Status status;
    for (size_t i = 0; status.ok() && i < page.keys.size(); ++i) {
      const std::string name = new_prefix + page.keys[i].substr(old_prefix.size());
      status =
          io::copy_s3_object(client, {from.bucket, page.keys[i]}, {to.bucket, name}, page.sizes[i]);
    }
    return status.ok() && !page.keys.empty() ? client.remove_all(from.bucket, page.keys) : status;
  });
}

}  // namespace distribute::io_internal

namespace distribute::io {

struct S3FileSystem::Place {
  std::shared_ptr<S3Client> s3;
  S3Path object;
};

DISTRIBUTE_INLINE S3FileSystem::S3FileSystem() = default;
DISTRIBUTE_INLINE S3FileSystem::S3FileSystem(const S3Options& options)
    : client_(std::make_shared<S3Client>(options)) {}
DISTRIBUTE_INLINE S3FileSystem::~S3FileSystem() = default;

DISTRIBUTE_INLINE absl::StatusOr<std::shared_ptr<S3Client>> S3FileSystem::client(
    const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (client_) return client_;
  auto options = s3_options_from_environment();
  if (!options.ok()) return annotate(options.status(), path);
  return client_ = std::make_shared<S3Client>(*std::move(options));
}

DISTRIBUTE_INLINE absl::StatusOr<S3FileSystem::Place> S3FileSystem::at(const std::string& path) {
  auto object = parse_s3_path(path);
  if (!object.ok()) return object.status();
  auto s3 = client(path);
  if (!s3.ok()) return s3.status();
  return Place{*std::move(s3), *std::move(object)};
}

DISTRIBUTE_INLINE absl::StatusOr<S3FileSystem::Place> S3FileSystem::file_at(
    const std::string& path) {
  auto place = at(path);
  if (!place.ok() || (!place->object.key.empty() && !place->object.key.ends_with('/')))
    return place;
  return make_status(StatusCode::FailedPrecondition,
                     str_cat(path, " is a directory, a file was wanted"));
}

DISTRIBUTE_INLINE absl::StatusOr<std::unique_ptr<RandomAccessFile>> S3FileSystem::open(
    const std::string& path) {
  auto place = file_at(path);
  if (!place.ok()) return place.status();
  const auto& [s3, object] = *place;
  auto info = s3->head(object);
  if (absl::IsNotFound(info.status())) {
    auto directory = io_internal::has_objects(*s3, object);  // reports a missing bucket
    if (!directory.ok()) return directory.status();
    if (*directory)
      return make_status(StatusCode::FailedPrecondition,
                         str_cat(path, " is a directory, a file was wanted"));
  }
  if (!info.ok()) return info.status();
  auto fetch = [s3 = s3, object = object, etag = info->etag](int64_t offset, std::span<char> out) {
    return s3->get(object, offset, out, etag);
  };
  const S3Options& options = s3->options();
  return read_ahead_file(path, info->size, std::move(fetch),
                         {.block_bytes = options.read_bytes, .parallel = options.parallel});
}

DISTRIBUTE_INLINE absl::StatusOr<std::unique_ptr<WritableFile>> S3FileSystem::create(
    const std::string& path) {
  auto place = file_at(path);
  if (!place.ok()) return place.status();
  const auto& [s3, object] = *place;
  return s3_writable_file(s3, object);
}

DISTRIBUTE_INLINE absl::StatusOr<bool> S3FileSystem::exists(const std::string& path) {
  auto place = at(path);
  if (!place.ok()) return place.status();
  const auto& [s3, object] = *place;
  if (!object.key.empty() && !object.key.ends_with('/')) {
    auto info = s3->head(object);
    if (info.ok()) return true;
    if (!absl::IsNotFound(info.status())) return info.status();
  }
  return is_directory(path);
}

DISTRIBUTE_INLINE absl::StatusOr<bool> S3FileSystem::is_directory(const std::string& path) {
  auto place = at(path);
  if (!place.ok()) return place.status();
  const auto& [s3, object] = *place;
  auto any = io_internal::has_objects(*s3, object);
  return any.ok() && object.key.empty() ? true : any;  // a bucket that can be listed exists
}

DISTRIBUTE_INLINE absl::StatusOr<int64_t> S3FileSystem::file_size(const std::string& path) {
  auto place = file_at(path);
  if (!place.ok()) return place.status();
  const auto& [s3, object] = *place;
  auto info = s3->head(object);
  if (!info.ok()) return info.status();
  return info->size;
}

DISTRIBUTE_INLINE absl::StatusOr<std::vector<std::string>> S3FileSystem::list_directory(
    const std::string& path) {
  auto place = at(path);
  if (!place.ok()) return place.status();
  const auto& [s3, object] = *place;
  const S3Path directory = io_internal::as_directory(object);
  std::vector<std::string> names;
  const auto add = [&](std::string name) {
    name.erase(0, directory.key.size());
    if (name.ends_with('/')) name.pop_back();
    if (!name.empty()) names.push_back(std::move(name));  // an empty name marks the directory
  };
  const absl::Status status =
      io_internal::for_all_pages(*s3, directory, "/", [&](const S3Listing& page) {
        for (const std::string& key : page.keys) add(key);
        for (const std::string& prefix : page.prefixes) add(prefix);
        return absl::OkStatus();
      });
  if (!status.ok()) return status;
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

DISTRIBUTE_INLINE absl::Status S3FileSystem::make_dirs(const std::string& path) {
  return parse_s3_path(path).status();
}

DISTRIBUTE_INLINE absl::Status S3FileSystem::rename(const std::string& from,
                                                    const std::string& to) {
  auto source = parse_s3_path(from), target = parse_s3_path(to);
  if (!source.ok()) return source.status();
  if (!target.ok()) return target.status();
  if (source->str() == target->str()) return absl::OkStatus();
  auto s3 = client(from);
  if (!s3.ok()) return s3.status();
  auto info = (*s3)->head(*source);
  if (info.ok()) {
    const absl::Status copied = copy_s3_object(**s3, *source, *target, info->size);
    return copied.ok() ? (*s3)->remove(*source) : copied;
  }
  if (!absl::IsNotFound(info.status())) return info.status();
  auto directory = io_internal::has_objects(**s3, *source);
  if (!directory.ok()) return directory.status();
  return *directory ? io_internal::rename_s3_directory(**s3, *source, *target) : info.status();
}

DISTRIBUTE_INLINE absl::Status S3FileSystem::remove_file(const std::string& path) {
  auto place = file_at(path);
  if (!place.ok()) return place.status();
  const auto& [s3, object] = *place;
  auto info = s3->head(object);  // in S3 removing a missing object is no error
  return info.ok() ? s3->remove(object) : info.status();
}

DISTRIBUTE_INLINE absl::Status S3FileSystem::remove_directory(const std::string& path) {
  auto place = at(path);
  if (!place.ok()) return place.status();
  const auto& [s3, object] = *place;
  const S3Path directory = io_internal::as_directory(object);
  auto page = s3->list(directory, "", 2);
  if (!page.ok()) return page.status();
  if (page->keys.empty()) return absl::OkStatus();
  if (page->keys.size() == 1 && page->keys[0] == directory.key)
    return s3->remove(directory);  // a marker that another program has left
  return make_status(StatusCode::FailedPrecondition,
                     str_cat("cannot remove directory ", path, ": it is not empty"));
}

DISTRIBUTE_INLINE absl::Status S3FileSystem::sync_directory(const std::string& path) {
  return parse_s3_path(path).status();
}

DISTRIBUTE_INLINE absl::Status S3FileSystem::remove_tree(const std::string& path) {
  auto object = parse_s3_path(path);
  if (!object.ok()) return object.status();
  if (object->key.empty())
    return make_status(StatusCode::InvalidArgument,
                       str_cat(path, " is a whole bucket, which is never emptied; name a key"));
  auto s3 = client(path);
  if (!s3.ok()) return s3.status();
  return io_internal::for_all_pages(
      **s3, io_internal::as_directory(*object), "", [&](const S3Listing& page) {
        return page.keys.empty() ? absl::OkStatus() : (*s3)->remove_all(object->bucket, page.keys);
      });
}

DISTRIBUTE_INLINE std::unique_ptr<FileSystem> s3_file_system() {
  return std::make_unique<S3FileSystem>();
}

}  // namespace distribute::io
