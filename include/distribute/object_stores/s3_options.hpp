#pragma once
/// Where S3 is and how it is talked to, from the environment as TensorFlow and Amazon's tools do.

#include <distribute/http/http_retry.hpp>
#include <distribute/object_stores/aws_credentials.hpp>

#include <memory>

namespace distribute::io {

/// Options of the S3 client; times in seconds.
struct S3Options {
  std::string endpoint = {};  // URL of a server that is not Amazon's, such as "http://host:9000"
  std::string region = "us-east-1";
  /// host/bucket/key instead of bucket.host/key. Other servers and buckets with a dot always are.
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

}  // namespace distribute::io
