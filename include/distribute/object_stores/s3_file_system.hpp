#pragma once
/// The file system for s3:// paths, with credentials found as Amazon's tools do.

#include <distribute/http/http_client.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/object_stores/detail/aws_metadata.hpp>
#include <distribute/object_stores/detail/aws_signature.hpp>

#include <memory>
#include <mutex>
#include <string>

namespace distribute::io {

/// Finds credentials. It asks, in this order: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; web
/// identity (AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_ARN); the profile of ~/.aws/credentials and
/// ~/.aws/config with role_arn, web_identity_token_file and credential_process; the container's
/// address (AWS_CONTAINER_CREDENTIALS_*); the instance's metadata server (IMDSv2). If a configured
/// source fails, that is an error; without any source requests are anonymous. Thread-safe.
/// Source  AWS SDKs and Tools Reference Guide, "standardized credential providers"
class AwsCredentialsProvider {
 public:
  explicit AwsCredentialsProvider(AwsCredentialsOptions options = {});

  /// Gives credentials. They are kept until five minutes before they expire.
  /// Errors  Unavailable, DeadlineExceeded, InvalidArgument, ... of the source, with its address.
  absl::StatusOr<AwsCredentials> get();
  /// Gives other credentials than `refused`, which a server no longer accepted. It asks the source
  /// unless another thread has done so already.
  absl::StatusOr<AwsCredentials> renew(const AwsCredentials& refused);

 private:
  int64_t now() const;

  AwsCredentialsOptions options_;
  std::mutex mutex_;
  AwsCredentials known_;  // guarded by mutex_
  bool found_ = false;    // guarded by mutex_
};

/// Asks the sources once.
absl::StatusOr<AwsCredentials> find_aws_credentials(const AwsCredentialsOptions& options);

/// Holds the options of the S3 client; times in seconds.
struct S3Options {
  std::string endpoint = {};  // URL of a server that is not Amazon's, such as "http://host:9000"
  std::string region = "us-east-1";
  /// Uses addresses of the form host/bucket/key instead of bucket.host/key. Servers other than
  /// Amazon's, and buckets with a dot, always use this form.
  bool path_style = false;
  bool verify_tls = true;
  std::string ca_file = {}, ca_path = {};
  double connect_timeout = 10;
  double stall_timeout = 60;  // seconds without progress
  /// Sizes of one read request, one part of an upload, and one part of a copy. Parts have at least
  /// 5 MiB and grow after every 1000, so that 10000 parts suffice for a large object.
  int64_t read_bytes = 4 << 20, part_bytes = 8 << 20, copy_part_bytes = 512 << 20;
  int parallel = 4;  // number of parallel requests for one file
  HttpRetryPolicy retry = {};
  std::shared_ptr<AwsCredentialsProvider> credentials = {};  // null: anonymous
};

/// Reads the options from S3_ENDPOINT, AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL or the profile's
/// endpoint_url; S3_USE_HTTPS,
/// S3_VERIFY_SSL, S3_CA_FILE, S3_CA_PATH, S3_CONNECT_TIMEOUT_MSEC, S3_REQUEST_TIMEOUT_MSEC,
/// S3_MULTI_PART_UPLOAD_CHUNK_SIZE, S3_MULTI_PART_DOWNLOAD_CHUNK_SIZE,
/// S3_MULTI_PART_COPY_PART_SIZE, S3_EXECUTOR_POOL_SIZE; region (S3_REGION too) and credentials as
/// in aws_credentials.hpp.
/// Errors  InvalidArgument for a value that is not a URL or number, naming the variable; those of
///         find_aws_region.
absl::StatusOr<S3Options> s3_options_from_environment(AwsCredentialsOptions options = {});

struct S3Options;
class S3Client;

/// Directories are prefixes of keys: making one does nothing, and listing a missing one gives no
/// names. A file appears whole when close() succeeds; until then, and when it is destroyed without
/// close(), the old object stays. rename() copies and removes, object by object. A file that is
/// open for reading belongs to one version of its object: reading gives FailedPrecondition once the
/// object is replaced. Thread-safe. Errors name the path, the URL, S3's code, the request id and
/// the cure.
/// Source  tensorflow-io s3_filesystem
class S3FileSystem final : public FileSystem {
 public:
  /// Takes its options from the environment (s3_options.hpp) at the first use.
  S3FileSystem();
  explicit S3FileSystem(const S3Options& options);
  DISTRIBUTE_INLINE ~S3FileSystem() override;

  DISTRIBUTE_INLINE absl::StatusOr<std::unique_ptr<RandomAccessFile>> open(
      const std::string& path) override;
  DISTRIBUTE_INLINE absl::StatusOr<std::unique_ptr<WritableFile>> create(
      const std::string& path) override;
  DISTRIBUTE_INLINE absl::StatusOr<bool> exists(const std::string& path) override;
  DISTRIBUTE_INLINE absl::StatusOr<bool> is_directory(const std::string& path) override;
  DISTRIBUTE_INLINE absl::StatusOr<int64_t> file_size(const std::string& path) override;
  DISTRIBUTE_INLINE absl::StatusOr<std::vector<std::string>> list_directory(
      const std::string& path) override;
  DISTRIBUTE_INLINE absl::Status make_dirs(const std::string& path) override;
  DISTRIBUTE_INLINE absl::Status rename(const std::string& from, const std::string& to) override;
  DISTRIBUTE_INLINE absl::Status remove_file(const std::string& path) override;
  DISTRIBUTE_INLINE absl::Status remove_directory(const std::string& path) override;
  DISTRIBUTE_INLINE absl::Status sync_directory(const std::string& path) override;
  DISTRIBUTE_INLINE absl::Status remove_tree(const std::string& path) override;
  bool has_atomic_move() const override { return false; }

 private:
  struct Place;  // a client and the path in its store
  /// `path` is for messages.
  absl::StatusOr<std::shared_ptr<S3Client>> client(const std::string& path);
  absl::StatusOr<Place> at(const std::string& path);
  /// Finds the place of a path like at(), but refuses a path that is a directory.
  absl::StatusOr<Place> file_at(const std::string& path);

  std::mutex mutex_;
  std::shared_ptr<S3Client> client_;  // guarded by mutex_; open files hold it too
};

/// Makes the file system that file_system_for() gives for s3://.
std::unique_ptr<FileSystem> s3_file_system();

}  // namespace distribute::io
