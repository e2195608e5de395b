#pragma once
/// Hadoop of the tests: a name node and a data node that speak WebHDFS over files in memory.

#include "catch.hpp"
#include "http_server.hpp"

#include <distribute/http/http_client.hpp>

#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

/// Thread-safe, but for the settings.
class FakeWebHdfs {
 public:
  using Query = std::map<std::string, std::string>;

  /// The one behind hdfs:// of this process, unless the environment names a cluster already.
  static void serve_process() {
    static FakeWebHdfs* const served = [] {
      FakeWebHdfs* fake = std::getenv("DISTRIBUTE_WEBHDFS") ? nullptr : new FakeWebHdfs;
      if (fake) ::setenv("DISTRIBUTE_WEBHDFS", ("*=" + fake->name_node().url()).c_str(), 1);
      return fake;
    }();
    if (!served) return;
    const std::lock_guard lock(served->mutex_);
    served->files_.clear();
    served->directories_ = {"/"};
  }

  FakeWebHdfs() {
    if (!distribute::io::has_http()) SKIP("no libcurl");
  }
  HttpServer& name_node() { return name_node_; }
  HttpServer& data_node() { return data_node_; }
  std::map<std::string, std::string> files() const {
    const std::lock_guard lock(mutex_);
    return files_;
  }

  // Settings, before the requests they are for.
  bool standby = false;
  bool replaces = true;    // RENAME knows renameoptions=OVERWRITE; HttpFS does not
  std::string delegation;  // asked of every request, when not empty
  /// The answer of either node instead of the right one, if any.
  std::function<std::optional<HttpServerReply>(const HttpServerRequest&)> fault;
  /// Requests that are carried out, but whose answer never comes.
  std::function<bool(const HttpServerRequest&)> loses;

  static HttpServerReply exception(int status, const std::string& name,
                                   const std::string& message) {
    const nlohmann::json json = {
        {"RemoteException",
         {{"exception", name}, {"javaClassName", "org." + name}, {"message", message}}}};
    return {.status = status, .body = json.dump()};
  }

 private:
  static constexpr const char* kRoot = "/webhdfs/v1";

  static Query parse_query(const std::string& text) {
    Query query;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('&', begin), text.size());
      const std::string pair = text.substr(begin, end - begin);
      const size_t equal = std::min(pair.find('='), pair.size() - 1);
      query[pair.substr(0, equal)] = distribute::io::url_decode(pair.substr(equal + 1));
      begin = end + 1;
    }
    return query;
  }

  HttpServerReply answer(const HttpServerRequest& request, bool data) {
    if (fault)
      if (auto reply = fault(request)) return *reply;
    HttpServerReply reply = right_answer(request, data);
    if (loses && loses(request)) reply.reset_after = 0;
    return reply;
  }

  HttpServerReply right_answer(const HttpServerRequest& request, bool data) {
    const std::lock_guard lock(mutex_);
    const Query query = parse_query(request.query());
    if (standby)
      return exception(403, "StandbyException", "Operation category READ is not supported");
    if (!delegation.empty() &&
        (!query.contains("delegation") || query.at("delegation") != delegation))
      return exception(401, "SecurityException", "Failed to obtain user group information");
    const std::string path =
        distribute::io::url_decode(request.path().substr(std::string(kRoot).size()));
    const std::string& op = query.at("op");
    const bool moves_data = op == "OPEN" || op == "CREATE" || op == "APPEND";
    if (moves_data && !data) {
      if (op != "CREATE" && !files_.contains(path)) return missing(path);
      return {.status = 307, .headers = {{"Location", data_node_.url(request.target)}}};
    }
    return moves_data ? data_request(request, query, op, path) : name_request(query, op, path);
  }

  static HttpServerReply missing(const std::string& path) {
    return exception(404, "FileNotFoundException", "File does not exist: " + path);
  }
  static HttpServerReply yes(bool value) {
    return {.body = nlohmann::json{{"boolean", value}}.dump()};
  }

  void make_parents(const std::string& path) {
    for (size_t slash = path.find('/', 1); slash != std::string::npos;
         slash = path.find('/', slash + 1))
      directories_.insert(path.substr(0, slash));
  }

  HttpServerReply data_request(const HttpServerRequest& request, const Query& query,
                               const std::string& op, const std::string& path) {
    if (op == "CREATE") {
      make_parents(path);
      files_[path] = request.body;
      return {.status = 201};
    }
    if (op == "APPEND") {
      files_.at(path) += request.body;
      return {};
    }
    const size_t offset = size_t(std::stoll(query.at("offset")));
    return {.body = files_.at(path).substr(offset, size_t(std::stoll(query.at("length"))))};
  }

  nlohmann::json status_of(const std::string& path, const std::string& suffix) const {
    const bool file = files_.contains(path);
    return {{"pathSuffix", suffix},
            {"type", file ? "FILE" : "DIRECTORY"},
            {"length", file ? files_.at(path).size() : 0},
            {"modificationTime", 1}};
  }

  /// Names right below a directory.
  std::set<std::string> names_below(const std::string& path) const {
    const std::string prefix = path == "/" ? path : path + "/";
    std::set<std::string> names;
    const auto add = [&](const std::string& other) {
      if (other.size() > prefix.size() && other.starts_with(prefix))
        names.insert(other.substr(prefix.size(), other.find('/', prefix.size()) - prefix.size()));
    };
    for (const auto& [other, bytes] : files_) add(other);
    for (const std::string& other : directories_) add(other);
    return names;
  }

  HttpServerReply name_request(const Query& query, const std::string& op, const std::string& path) {
    const bool there = files_.contains(path) || directories_.contains(path);
    if (op == "MKDIRS") {
      make_parents(path + "/");
      return yes(true);
    }
    if (op == "DELETE") {
      if (directories_.contains(path) && !names_below(path).empty())
        return exception(403, "PathIsNotEmptyDirectoryException", path + " is non empty");
      return yes(files_.erase(path) + directories_.erase(path) > 0);
    }
    if (!there) return op == "RENAME" ? yes(false) : missing(path);
    if (op == "RENAME") {
      const std::string to = query.at("destination");
      if (files_.contains(to) && !replaces) return yes(false);
      make_parents(to);
      files_[to] = files_.at(path);
      files_.erase(path);
      return replaces ? HttpServerReply{} : yes(true);
    }
    if (op == "GETFILESTATUS")
      return {.body = nlohmann::json{{"FileStatus", status_of(path, "")}}.dump()};
    nlohmann::json list = nlohmann::json::array();
    if (files_.contains(path)) list.push_back(status_of(path, ""));
    for (const std::string& name : names_below(path))
      list.push_back(status_of((path == "/" ? "" : path) + "/" + name, name));
    return {.body = nlohmann::json{{"FileStatuses", {{"FileStatus", list}}}}.dump()};
  }

  mutable std::mutex mutex_;  // guards everything below
  std::map<std::string, std::string> files_;
  std::set<std::string> directories_{"/"};
  HttpServer data_node_{[this](const HttpServerRequest& request) { return answer(request, true); }};
  HttpServer name_node_{
      [this](const HttpServerRequest& request) { return answer(request, false); }};
};
