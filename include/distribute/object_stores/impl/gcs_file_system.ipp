#pragma once
#include <distribute/base/json.hpp>
#include <distribute/object_stores/gcs_file_system.hpp>

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/object_stores/detail/gcs_client.hpp>
#include <distribute/object_stores/detail/read_ahead.hpp>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <nlohmann/json.hpp>

namespace distribute::io_internal {

/// Reads a text member; Google writes 64-bit numbers as texts.
DISTRIBUTE_INLINE std::string text_member(const nlohmann::json& json, const char* name) {
  const auto found = json.is_object() ? json.find(name) : json.end();
  if (!json.is_object() || found == json.end()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

DISTRIBUTE_INLINE absl::StatusOr<nlohmann::json> parse_answer(const io::HttpResponse& response,
                                                              const std::string& path) {
  auto json = json_of(response.body);
  if (json.is_object()) return json;
  return make_status(StatusCode::FailedPrecondition,
                     str_cat(path, ": the answer of the store is no JSON object: ",
                             response.excerpt(), "; is the endpoint the right one?"));
}

/// Lists one page of objects and directories below `prefix`. FailedPrecondition without the bucket.
DISTRIBUTE_INLINE absl::StatusOr<nlohmann::json> list_page(io::GcsClient& client,
                                                           const io::GcsPath& path,
                                                           const std::string& prefix,
                                                           const io::QueryParameters& more) {
  io::QueryParameters query = {{"prefix", prefix},
                               {"fields", "items(name),prefixes,nextPageToken"}};
  query.insert(query.end(), more.begin(), more.end());
  const io::GcsPath bucket{path.path, path.bucket, ""};
  const auto response =
      client.call({.url = client.url("/storage/v1", bucket.resource(), query)}, path.path);
  if (absl::IsNotFound(response.status()))
    return make_status(StatusCode::FailedPrecondition, std::string(response.status().message()));
  if (!response.ok()) return response.status();
  return parse_answer(*response, path.path);
}

/// Gives the prefix of a directory: "" for a bucket, else with a slash at the end.
DISTRIBUTE_INLINE std::string prefix_of(const io::GcsPath& path) {
  return path.object.empty() ? "" : path.object + "/";
}

DISTRIBUTE_INLINE absl::StatusOr<io::GcsPath> parse_object_path(const std::string& path) {
  auto parsed = io::parse_gcs_path(path);
  if (parsed.ok() && parsed->object.empty())
    return make_status(StatusCode::FailedPrecondition,
                       path + ": a bucket is no object; name one in it");
  return parsed;
}

/// Adds the names below `prefix` on a page, without the prefix and without a final slash.
DISTRIBUTE_INLINE void add_names(const nlohmann::json& page, const std::string& prefix,
                                 std::vector<std::string>& names) {
  const auto add = [&](std::string name) {
    if (!name.starts_with(prefix)) return;
    name.erase(0, prefix.size());
    if (name.ends_with('/')) name.pop_back();
    if (!name.empty()) names.push_back(std::move(name));
  };
  if (page.contains("items"))
    for (const auto& item : page["items"]) add(text_member(item, "name"));
  if (page.contains("prefixes"))
    for (const auto& directory : page["prefixes"])
      if (directory.is_string()) add(directory.get<std::string>());
}

/// Lists the sorted names in a directory; with an empty delimiter, of all objects below it.
DISTRIBUTE_INLINE absl::StatusOr<std::vector<std::string>> list_names(
    io::GcsClient& client, const io::GcsPath& path, const std::string& delimiter) {
  const std::string prefix = prefix_of(path);
  std::vector<std::string> names;
  std::string next;
  do {
    io::QueryParameters more;
    if (!delimiter.empty()) more.emplace_back("delimiter", delimiter);
    if (!next.empty()) more.emplace_back("pageToken", next);
    const auto page = list_page(client, path, prefix, more);
    if (!page.ok()) return page.status();
    add_names(*page, prefix, names);
    next = text_member(*page, "nextPageToken");
  } while (!next.empty());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace distribute::io_internal

namespace distribute::io {

DISTRIBUTE_INLINE absl::StatusOr<GcsFileSystem::Stat> GcsFileSystem::stat(const GcsPath& path) {
  const auto response = client_.call(
      {.url = client_.url("/storage/v1", path.resource(), {{"fields", "size,generation"}})},
      path.path);
  if (!response.ok()) return response.status();
  const auto json = io_internal::parse_answer(*response, path.path);
  if (!json.ok()) return json.status();
  return Stat{std::atoll(io_internal::text_member(*json, "size").c_str()),
              io_internal::text_member(*json, "generation")};
}

/// Looks up an object; the bucket counts as existing when it may not be listed.
DISTRIBUTE_INLINE absl::StatusOr<GcsFileSystem::Stat> GcsFileSystem::stat_in_bucket(
    const GcsPath& path) {
  const auto found = stat(path);
  if (!absl::IsNotFound(found.status())) return found;
  const auto page =
      io_internal::list_page(client_, path, io_internal::prefix_of(path), {{"maxResults", "1"}});
  return absl::IsFailedPrecondition(page.status()) ? page.status() : found.status();
}

DISTRIBUTE_INLINE absl::StatusOr<int64_t> GcsFileSystem::fetch(const GcsPath& path,
                                                               const Stat& stat, int64_t offset,
                                                               std::span<char> out) {
  const HttpRequest request{
      .url = client_.url("/storage/v1", path.resource(), {{"alt", "media"}}),
      .headers = {{"Range", str_cat("bytes=", offset, "-", offset + int64_t(out.size()) - 1)}},
      .sink = out,
      .total_timeout = client_.options().read_timeout};
  const auto response = client_.call(request, path.path);
  if (!response.ok()) return response.status();
  const std::string generation = response->header("X-Goog-Generation");
  if (!generation.empty() && generation != stat.generation)
    return make_status(StatusCode::FailedPrecondition,
                       path.path + ": the object was replaced while it was read; open it again");
  if (response->sink_bytes == int64_t(out.size())) return response->sink_bytes;
  return make_status(StatusCode::DataLoss,
                     str_cat(path.path, ": wanted ", out.size(), " bytes at offset ", offset,
                             ", the store sent ", response->sink_bytes));
}

DISTRIBUTE_INLINE absl::StatusOr<std::unique_ptr<RandomAccessFile>> GcsFileSystem::open(
    const std::string& path) {
  const auto parsed = io_internal::parse_object_path(path);
  if (!parsed.ok()) return parsed.status();
  const auto found = stat_in_bucket(*parsed);
  if (!found.ok()) return found.status();
  auto fetch_range = [this, object = *parsed, stat = *found](int64_t offset, std::span<char> out) {
    return fetch(object, stat, offset, out);
  };
  const int64_t block = client_.options().read_block_bytes;
  // Without reading ahead, every read is one request.
  return read_ahead_file(path, found->size, std::move(fetch_range),
                         {.block_bytes = block > 0 ? block : 1, .parallel = block > 0 ? 4 : 1});
}

DISTRIBUTE_INLINE absl::StatusOr<std::unique_ptr<WritableFile>> GcsFileSystem::create(
    const std::string& path) {
  auto parsed = io_internal::parse_object_path(path);
  if (!parsed.ok()) return parsed.status();
  return gcs_writable_file(client_, *std::move(parsed));
}

DISTRIBUTE_INLINE absl::StatusOr<bool> GcsFileSystem::exists(const std::string& path) {
  const auto parsed = parse_gcs_path(path);
  if (!parsed.ok()) return parsed.status();
  if (!parsed->object.empty()) {
    const auto found = stat(*parsed);
    if (found.ok()) return true;
    if (!absl::IsNotFound(found.status())) return found.status();
  }
  return is_directory(path);
}

DISTRIBUTE_INLINE absl::StatusOr<bool> GcsFileSystem::is_directory(const std::string& path) {
  const auto parsed = parse_gcs_path(path);
  if (!parsed.ok()) return parsed.status();
  const auto page = io_internal::list_page(client_, *parsed, io_internal::prefix_of(*parsed),
                                           {{"maxResults", "1"}});
  if (!page.ok()) return page.status();
  return parsed->object.empty() || (page->contains("items") && !(*page)["items"].empty());
}

DISTRIBUTE_INLINE absl::StatusOr<int64_t> GcsFileSystem::file_size(const std::string& path) {
  const auto parsed = io_internal::parse_object_path(path);
  if (!parsed.ok()) return parsed.status();
  const auto found = stat_in_bucket(*parsed);
  if (!found.ok()) return found.status();
  return found->size;
}

DISTRIBUTE_INLINE absl::StatusOr<std::vector<std::string>> GcsFileSystem::list_directory(
    const std::string& path) {
  const auto parsed = parse_gcs_path(path);
  if (!parsed.ok()) return parsed.status();
  return io_internal::list_names(client_, *parsed, "/");
}

DISTRIBUTE_INLINE absl::Status GcsFileSystem::make_dirs(const std::string& path) {
  return parse_gcs_path(path).status();
}

DISTRIBUTE_INLINE absl::Status GcsFileSystem::copy(const GcsPath& from, const GcsPath& to) {
  const std::string resource = str_cat(from.resource(), "/rewriteTo", to.resource());
  std::string token;  // a large copy takes several requests
  do {
    QueryParameters query;
    if (!token.empty()) query.emplace_back("rewriteToken", token);
    const auto response =
        client_.call({.method = "POST", .url = client_.url("/storage/v1", resource, query)},
                     str_cat(from.path, " to ", to.path));
    if (!response.ok()) return response.status();
    const auto json = io_internal::parse_answer(*response, from.path);
    if (!json.ok()) return json.status();
    const bool done = io_internal::text_member(*json, "done") == "true";
    token = done ? "" : io_internal::text_member(*json, "rewriteToken");
    if (!done && token.empty())
      return make_status(StatusCode::Internal, from.path + ": the copy stopped half way");
  } while (!token.empty());
  return absl::OkStatus();
}

DISTRIBUTE_INLINE absl::Status GcsFileSystem::rename(const std::string& from,
                                                     const std::string& to) {
  const auto source = io_internal::parse_object_path(from);
  if (!source.ok()) return source.status();
  const auto target = io_internal::parse_object_path(to);
  if (!target.ok()) return target.status();
  const absl::Status copied = copy(*source, *target);
  if (copied.ok()) return remove_file(from);
  if (!absl::IsNotFound(copied)) return copied;
  const auto names = io_internal::list_names(client_, *source, "");
  if (!names.ok() || names->empty()) return copied;
  for (const std::string& name : *names) {  // a directory
    const absl::Status status = rename(join_path(from, name), join_path(to, name));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

DISTRIBUTE_INLINE absl::Status GcsFileSystem::remove_file(const std::string& path) {
  const auto parsed = io_internal::parse_object_path(path);
  if (!parsed.ok()) return parsed.status();
  const HttpRequest request{.method = "DELETE",
                            .url = client_.url("/storage/v1", parsed->resource())};
  const auto response = client_.send(request);
  // An attempt whose answer was lost may have removed it.
  if (response.ok() && response->status == 404 && response->attempts > 1) return absl::OkStatus();
  return client_.check(response, request, path);
}

/// Removes the empty object with which other programs mark a directory.
DISTRIBUTE_INLINE absl::Status GcsFileSystem::remove_directory(const std::string& path) {
  auto parsed = parse_gcs_path(path);
  if (!parsed.ok() || parsed->object.empty()) return parsed.status();
  parsed->object += "/";
  const HttpRequest request{.method = "DELETE",
                            .url = client_.url("/storage/v1", parsed->resource())};
  const absl::Status status = client_.check(client_.send(request), request, path);
  return absl::IsNotFound(status) ? absl::OkStatus() : status;
}

DISTRIBUTE_INLINE absl::StatusOr<std::unique_ptr<FileSystem>> gcs_file_system() {
  auto options = gcs_options_from_environment();
  if (!options.ok()) return options.status();
  return std::make_unique<GcsFileSystem>(*std::move(options));
}

}  // namespace distribute::io
