#pragma once
/// Google Cloud Storage of the tests: the JSON interface over objects in memory, with faults.

#include "catch.hpp"
#include "http_server.hpp"

#include <distribute/http/http_client.hpp>
#include <distribute/io/compression.hpp>

#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <absl/strings/escaping.h>
#include <nlohmann/json.hpp>

/// Thread-safe, but for the settings.
class FakeGcs {
 public:
  /// The one behind gs:// of this process, unless the environment names an emulator already.
  static void serve_process() {
    static FakeGcs* const served = [] {
      FakeGcs* fake = std::getenv("STORAGE_EMULATOR_HOST") ? nullptr : new FakeGcs;
      if (fake) ::setenv("STORAGE_EMULATOR_HOST", fake->server_.address().c_str(), 1);
      return fake;
    }();
    if (!served) return;
    const std::lock_guard lock(served->mutex_);
    served->objects_.clear();
  }

  FakeGcs() {
    if (!distribute::io::has_http()) SKIP("no libcurl");
  }
  HttpServer& server() { return server_; }
  std::map<std::string, std::string> objects() const {
    const std::lock_guard lock(mutex_);
    std::map<std::string, std::string> all;
    for (const auto& [name, object] : objects_) all[name] = object.bytes;
    return all;
  }
  void put(const std::string& name, const std::string& bytes) {
    const std::lock_guard lock(mutex_);
    objects_[name] = {bytes, ++generation_};
  }
  size_t open_sessions() const {
    const std::lock_guard lock(mutex_);
    return sessions_.size();
  }
  void forget_sessions() {
    const std::lock_guard lock(mutex_);
    sessions_.clear();
    finished_.clear();
  }

  // Settings, before the requests they are for.
  std::string bucket = "bucket";
  std::string token;                 // asked of every request, when not empty
  size_t page_size = 1'000;          // names of a list
  size_t commit_limit = size_t(-1);  // bytes kept of one chunk, but for the last
  bool wrong_checksum = false;
  int rewrites = 1;  // requests that a copy takes
  /// The answer instead of the right one, if any.
  std::function<std::optional<HttpServerReply>(const HttpServerRequest&)> fault;
  /// Requests that are carried out, but whose answer never comes.
  std::function<bool(const HttpServerRequest&)> loses;

 private:
  struct Object {
    std::string bytes;
    int64_t generation = 0;
  };
  struct Session {
    std::string name, bytes;
  };
  using Query = std::map<std::string, std::string>;

  static HttpServerReply failure(int status, const std::string& message) {
    const nlohmann::json json = {{"error", {{"code", status}, {"message", message}}}};
    return {
        .status = status, .body = json.dump(), .headers = {{"X-GUploader-UploadID", "request-17"}}};
  }

  static Query parse_query(const std::string& text) {
    Query query;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('&', begin), text.size());
      const size_t equal = std::min(text.find('=', begin), end);
      query[distribute::io::url_decode(text.substr(begin, equal - begin))] =
          distribute::io::url_decode(
              text.substr(std::min(equal + 1, end), end - std::min(equal + 1, end)));
      begin = end + 1;
    }
    return query;
  }

  std::string describe(const std::string& name) const {
    const Object& object = objects_.at(name);
    const uint32_t crc = distribute::io::crc32c(object.bytes) + (wrong_checksum ? 1 : 0);
    const char bytes[] = {char(crc >> 24), char(crc >> 16), char(crc >> 8), char(crc)};
    return nlohmann::json{{"name", name},
                          {"size", std::to_string(object.bytes.size())},
                          {"generation", std::to_string(object.generation)},
                          {"crc32c", absl::Base64Escape(absl::string_view(bytes, 4))}}
        .dump();
  }

  HttpServerReply answer(const HttpServerRequest& request) {
    if (fault)
      if (auto reply = fault(request)) return *reply;
    HttpServerReply reply = right_answer(request);
    if (loses && loses(request)) reply.reset_after = 0;
    return reply;
  }

  HttpServerReply right_answer(const HttpServerRequest& request) {
    const std::lock_guard lock(mutex_);
    if (!token.empty() && request.header("authorization") != "Bearer " + token)
      return failure(401, "Invalid Credentials");
    const Query query = parse_query(request.query());
    const std::string path = request.path();
    if (path.starts_with("/session/")) return receive(request, path);
    const std::string upload = "/upload/storage/v1/b/", base = "/storage/v1/b/";
    if (!path.starts_with(upload) && !path.starts_with(base)) return failure(404, "no such path");
    const std::string rest = path.substr(path.starts_with(upload) ? upload.size() : base.size());
    if (rest.substr(0, rest.find('/')) != bucket)
      return failure(404, "The specified bucket does not exist.");
    if (path.starts_with(upload)) return start_upload(request, query);
    const size_t object = rest.find("/o/");
    if (object == std::string::npos) return list(query);
    return object_request(request, query, rest.substr(object + 3));
  }

  HttpServerReply start_upload(const HttpServerRequest& request, const Query& query) {
    const std::string name = query.at("name");
    if (query.at("uploadType") == "media") {
      objects_[name] = {request.body, ++generation_};
      return {.body = describe(name)};
    }
    const std::string session = "/session/" + std::to_string(++generation_);
    sessions_[session] = {name, ""};
    return {.headers = {{"Location", server_.url(session)}}};
  }

  /// One chunk, or the question how much is there ("bytes */...").
  HttpServerReply receive(const HttpServerRequest& request, const std::string& path) {
    const auto done = finished_.find(path);
    if (done != finished_.end() && request.method == "DELETE") return {.status = 499};
    if (done != finished_.end()) return {.body = describe(done->second)};
    const auto found = sessions_.find(path);
    if (found == sessions_.end()) return failure(410, "The upload session is gone.");
    if (request.method == "DELETE") {
      sessions_.erase(found);
      return {.status = 499};
    }
    Session& session = found->second;
    const std::string range = request.header("content-range");
    const std::string total = range.substr(range.find('/') + 1);
    const bool last = total != "*";
    if (range.find("bytes */") == std::string::npos) {
      const size_t begin = size_t(std::atoll(range.c_str() + 6));
      if (begin != session.bytes.size()) return failure(400, "wrong offset");
      if (!last && request.body.size() % (256 << 10) != 0) return failure(400, "wrong chunk size");
      session.bytes += request.body.substr(0, commit_limit);
    }
    if (last && session.bytes.size() == size_t(std::atoll(total.c_str()))) {
      const std::string name = session.name;
      objects_[name] = {std::move(session.bytes), ++generation_};
      sessions_.erase(found);
      finished_[path] = name;
      return {.body = describe(name)};
    }
    if (session.bytes.empty()) return {.status = 308};
    return {.status = 308,
            .headers = {{"Range", "bytes=0-" + std::to_string(session.bytes.size() - 1)}}};
  }

  HttpServerReply object_request(const HttpServerRequest& request, const Query& query,
                                 const std::string& encoded) {
    const size_t rewrite = encoded.find("/rewriteTo/");
    const std::string name = distribute::io::url_decode(encoded.substr(0, rewrite));
    const auto found = objects_.find(name);
    if (found == objects_.end()) return failure(404, "No such object: " + bucket + "/" + name);
    if (rewrite != std::string::npos) {
      const std::string target =
          distribute::io::url_decode(encoded.substr(encoded.find("/o/", rewrite) + 3));
      const int made =
          query.contains("rewriteToken") ? std::atoi(query.at("rewriteToken").c_str()) + 1 : 1;
      if (made < rewrites)
        return {.body =
                    nlohmann::json{{"done", false}, {"rewriteToken", std::to_string(made)}}.dump()};
      objects_[target] = {found->second.bytes, ++generation_};
      return {.body = nlohmann::json{{"done", true}}.dump()};
    }
    if (request.method == "DELETE") {
      objects_.erase(found);
      return {.status = 204};
    }
    if (!query.contains("alt")) return {.body = describe(name)};
    return read(request, found->second);
  }

  static HttpServerReply read(const HttpServerRequest& request, const Object& object) {
    const std::string range = request.header("range");
    const std::string& bytes = object.bytes;
    const size_t begin = range.empty() ? 0 : size_t(std::atoll(range.c_str() + 6));
    const size_t end =
        range.empty() ? bytes.size() : size_t(std::atoll(range.c_str() + range.find('-') + 1)) + 1;
    if (begin >= bytes.size() && !range.empty()) return failure(416, "range beyond the end");
    return {.status = range.empty() ? 200 : 206,
            .body = bytes.substr(begin, end - begin),
            .headers = {{"X-Goog-Generation", std::to_string(object.generation)}}};
  }

  HttpServerReply list(const Query& query) const {
    const auto text = [&](const char* name) {
      const auto found = query.find(name);
      return found == query.end() ? std::string() : found->second;
    };
    const std::string prefix = text("prefix"), delimiter = text("delimiter");
    std::map<std::string, bool> found;  // true: a prefix
    for (const auto& [name, object] : objects_) {
      if (!name.starts_with(prefix)) continue;
      const size_t cut =
          delimiter.empty() ? std::string::npos : name.find(delimiter, prefix.size());
      cut == std::string::npos ? found[name] = false : found[name.substr(0, cut + 1)] = true;
    }
    const size_t limit =
        query.contains("maxResults") ? size_t(std::atoi(text("maxResults").c_str())) : page_size;
    nlohmann::json page;
    size_t count = 0;
    for (auto at = found.upper_bound(text("pageToken")); at != found.end(); ++at) {
      if (count++ == limit) {
        page["nextPageToken"] = std::prev(at)->first;
        break;
      }
      at->second ? page["prefixes"].push_back(at->first)
                 : page["items"].push_back({{"name", at->first}});
    }
    return {.body = page.is_null() ? "{}" : page.dump()};
  }

  mutable std::mutex mutex_;  // guards everything below
  std::map<std::string, Object> objects_;
  std::map<std::string, Session> sessions_;
  std::map<std::string, std::string> finished_;  // names of objects by session
  int64_t generation_ = 0;
  HttpServer server_{[this](const HttpServerRequest& request) { return answer(request); }};
};
