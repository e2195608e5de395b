#pragma once
/// Requests to Hadoop's file system through its HTTP interface: addresses, name nodes, errors.

#include <distribute/http/credentials.hpp>
#include <distribute/http/http_client.hpp>

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace distribute::io {

struct WebHdfsOptions {
  /// What stands behind "hdfs://" and before the next slash, and the name nodes (or HttpFS servers)
  /// of that cluster, as http://host:port; the name "*" is for all others.
  std::map<std::string, std::vector<std::string>> clusters = {};
  std::string user = {};               // user.name of the requests
  std::string delegation = {};         // a delegation token, in the place of the user
  int64_t read_block_bytes = 8 << 20;  // at most at once when reading ahead
  int64_t write_piece_bytes = 16 << 20;
  HttpRetryPolicy retry = {};
};

/// DISTRIBUTE_WEBHDFS: "cluster=http://nn1:9870,http://nn2:9870;host:8020=http://host:14000".
/// DISTRIBUTE_WEBHDFS_DELEGATION: the token. HADOOP_USER_NAME, else the login.
/// Errors  InvalidArgument for text that is not of this form.
absl::StatusOr<WebHdfsOptions> webhdfs_options_from_environment(
    const EnvironmentReader& environment = process_environment);

/// The parts of hdfs://cluster/path.
struct WebHdfsPath {
  std::string whole;                 // for messages
  std::string cluster;               // "host:port", or the name of a cluster
  std::string path;                  // from its first slash on
  std::vector<std::string> servers;  // http://host:port
};
/// A cluster that the options do not name is its own server: http://host:9870 for hdfs://, where
/// the port is that of another protocol, http://host:port for webhdfs:// and https for swebhdfs://.
/// Errors  InvalidArgument without a host.
absl::StatusOr<WebHdfsPath> parse_webhdfs_path(const std::string& path,
                                               const WebHdfsOptions& options);

/// One operation, such as {.method = "PUT", .op = "MKDIRS"}.
struct WebHdfsCall {
  std::string method = "GET";
  std::string op;
  QueryParameters query = {};
  bool has_data = false;  // a redirection to a data node follows, which gets `body` or fills `sink`
  std::string_view body = {};
  std::span<char> sink = {};
  bool repeats = true;  // failures that pass are tried again
};

/// Thread-safe. A name node on standby or one that does not answer is followed by the next.
class WebHdfsClient {
 public:
  explicit WebHdfsClient(WebHdfsOptions options) : options_(std::move(options)) {}
  const WebHdfsOptions& options() const { return options_; }
  /// The 2xx answer.
  /// Errors  what Hadoop's exception stands for (NotFound, PermissionDenied, AlreadyExists,
  ///         ResourceExhausted for quotas, Unavailable on standby or in safe mode, ...), with path,
  ///         URL, Hadoop's words and a cure; FailedPrecondition where the server is not Hadoop's.
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
  std::map<std::string, size_t> active_;  // the server that answered last
};

}  // namespace distribute::io
