#pragma once
/// s3:// paths, with credentials as Amazon's tools find them.

#include <distribute/http/http_client.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/object_stores/detail/aws_metadata.hpp>
#include <distribute/object_stores/detail/aws_signature.hpp>

#include <memory>
#include <mutex>
#include <string>

namespace distribute::io {

/// Asked in this order: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; web identity
/// (AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_ARN); the profile of ~/.aws/credentials and
/// ~/.aws/config with role_arn, web_identity_token_file and credential_process; the container's
/// address (AWS_CONTAINER_CREDENTIALS_*); the instance's metadata server (IMDSv2). A source that
/// is configured and fails is an error; with no source at all requests are anonymous.
/// Thread-safe.
/// Source  AWS SDKs and Tools Reference Guide, "standardized credential providers"
class AwsCredentialsProvider {
 public:
  explicit AwsCredentialsProvider(AwsCredentialsOptions options = {});

  /// Kept until five minutes before they expire; then asked for again.
  /// Errors  Unavailable, DeadlineExceeded, InvalidArgument, ... of the source, with its address.
  absl::StatusOr<AwsCredentials> get();
  /// Others than `refused`, which a server did not accept any more; asks the source unless another
  /// thread has done so already.
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

/// Options of the S3 client; times in seconds.
struct S3Options {
  std::string endpoint = {};  // URL of a server that is not Amazon's, such as "http://host:9000"
  std::string region = "us-east-1";
  /// Addresses are host/bucket/key instead of bucket.host/key. Other servers and buckets with a dot
  /// always are.
  bool path_style = false;
  bool verify_tls = true;
  std::string ca_file = {}, ca_path = {};
  double connect_timeout = 10;
  double stall_timeout = 60;  // without progress
  /// What is asked for at once, read ahead, and put into one part of an upload. Parts have at least
  /// 5 MiB; they grow after every 1000 so that 10000 of them hold a large object.
  int64_t read_bytes = 4 << 20, part_bytes = 8 << 20, copy_part_bytes = 512 << 20;
  int parallel = 4;  // requests of one file
  HttpRetryPolicy retry = {};
  std::shared_ptr<AwsCredentialsProvider> credentials = {};  // null: anonymous
};

/// S3_ENDPOINT, AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL or the profile's endpoint_url; S3_USE_HTTPS,
/// S3_VERIFY_SSL, S3_CA_FILE, S3_CA_PATH, S3_CONNECT_TIMEOUT_MSEC, S3_REQUEST_TIMEOUT_MSEC,
/// S3_MULTI_PART_UPLOAD_CHUNK_SIZE, S3_MULTI_PART_DOWNLOAD_CHUNK_SIZE,
/// S3_MULTI_PART_COPY_PART_SIZE, S3_EXECUTOR_POOL_SIZE; region (S3_REGION too) and credentials as
/// in aws_credentials.hpp.
/// Errors  InvalidArgument for a value that is no URL or number, naming the variable; those of
///         find_aws_region.
absl::StatusOr<S3Options> s3_options_from_environment(AwsCredentialsOptions options = {});

struct S3Options;
class S3Client;

/// Directories are prefixes of keys: making one does nothing, listing one that is not there gives
/// no names. A file appears whole when close() succeeds; before, and when it is destroyed without
/// close(), the old object stays. rename() copies and removes, object by object. A file that is
/// open for reading belongs to one version of its object: FailedPrecondition once it is replaced.
/// Thread-safe. Errors name the path, the URL, S3's code, the request id and the cure.
/// Source  tensorflow-io s3_filesystem
class S3FileSystem final : public FileSystem {
 public:
  /// Options from the environment (s3_options.hpp) at the first use.
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
  struct Place;  // a client and what it shall look at
  /// `path` is for messages.
  absl::StatusOr<std::shared_ptr<S3Client>> client(const std::string& path);
  absl::StatusOr<Place> at(const std::string& path);
  /// The same of what is no directory.
  absl::StatusOr<Place> file_at(const std::string& path);

  std::mutex mutex_;
  std::shared_ptr<S3Client> client_;  // guarded by mutex_; open files hold it too
};

/// Makes the one that file_system_for() gives out.
std::unique_ptr<FileSystem> s3_file_system();

}  // namespace distribute::io
