#pragma once
/// Sends requests to Hadoop's file system through its HTTP interface.

#include <distribute/base/environment.hpp>
#include <distribute/http/credentials.hpp>
#include <distribute/http/http_client.hpp>

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace distribute::io {

struct WebHdfsOptions {
  /// Maps the text between "hdfs://" and the next slash to the name nodes (or HttpFS servers) of
  /// that cluster, as http://host:port. The name "*" stands for all other clusters.
  std::map<std::string, std::vector<std::string>> clusters = {};
  std::string user = {};               // user.name of the requests
  std::string delegation = {};         // a delegation token, which replaces the user
  int64_t read_block_bytes = 8 << 20;  // largest piece that is read ahead
  int64_t write_piece_bytes = 16 << 20;
  HttpRetryPolicy retry = {};
};

/// Reads the options from DISTRIBUTE_WEBHDFS:
/// "cluster=http://nn1:9870,http://nn2:9870;host:8020=http://host:14000",
/// DISTRIBUTE_WEBHDFS_DELEGATION (the token), and HADOOP_USER_NAME, else the login.
/// Errors  InvalidArgument for text that is not of this form.
absl::StatusOr<WebHdfsOptions> webhdfs_options_from_environment(
    const Environment& environment = {});

/// The parts of hdfs://cluster/path.
struct WebHdfsPath {
  std::string whole;                 // the whole path, for messages
  std::string cluster;               // "host:port", or the name of a cluster
  std::string path;                  // from its first slash on
  std::vector<std::string> servers;  // http://host:port
};
/// Splits a path. A cluster that the options do not name is its own server: http://host:9870 for
/// hdfs://, whose port belongs to another protocol, http://host:port for webhdfs:// and https for
/// swebhdfs://.
/// Errors  InvalidArgument without a host.
absl::StatusOr<WebHdfsPath> parse_webhdfs_path(const std::string& path,
                                               const WebHdfsOptions& options);

/// One operation, such as {.method = "PUT", .op = "MKDIRS"}.
struct WebHdfsCall {
  std::string method = "GET";
  std::string op;
  QueryParameters query = {};
  bool has_data = false;  // true: a data node, named by a redirection, gets `body` or fills `sink`
  std::string_view body = {};
  std::span<char> sink = {};
  bool repeats = true;  // repeats the call after failures that can pass
};

/// Sends calls to the name nodes. Thread-safe. When a name node is on standby or does not answer,
/// the next one is tried.
class WebHdfsClient {
 public:
  explicit WebHdfsClient(WebHdfsOptions options) : options_(std::move(options)) {}
  const WebHdfsOptions& options() const { return options_; }
  /// Sends a call and gives its 2xx answer.
  /// Errors  the meaning of Hadoop's exception (NotFound, PermissionDenied, AlreadyExists,
  ///         ResourceExhausted for quotas, Unavailable on standby or in safe mode, ...), with path,
  ///         URL, Hadoop's text and a cure; FailedPrecondition when the server is not Hadoop's.
  absl::StatusOr<HttpResponse> call(const WebHdfsPath& path, const WebHdfsCall& call);

 private:
  absl::StatusOr<HttpResponse> ask_all(const WebHdfsPath& path, const WebHdfsCall& call,
                                       std::string& url);
  absl::StatusOr<HttpResponse> ask(const std::string& url, const WebHdfsCall& call);
  std::string url_of(const std::string& server, const WebHdfsPath& path,
                     const WebHdfsCall& call) const;
  size_t active(const std::string& cluster) const;

  const WebHdfsOptions options_;
  mutable std::mutex mutex_;              // guards active_
  std::map<std::string, size_t> active_;  // index of the server that answered last
};

}  // namespace distribute::io
