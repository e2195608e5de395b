#pragma once
#include <distribute/base/status.hpp>
#include <distribute/object_stores/detail/registration.hpp>
#include <distribute/object_stores/gcs_file_system.hpp>
#include <distribute/object_stores/s3_file_system.hpp>
#include <distribute/object_stores/webhdfs_file_system.hpp>

namespace distribute::io_internal {

/// Registers the schemes; a scheme that the program has registered before is kept.
DISTRIBUTE_INLINE bool register_object_stores() {
  io::register_file_system_maker("s3", [] {
    return absl::StatusOr<std::unique_ptr<io::FileSystem>>(io::s3_file_system());
  }).IgnoreError();
  io::register_file_system_maker("gs", io::gcs_file_system).IgnoreError();
  for (const char* scheme : {"hdfs", "webhdfs", "swebhdfs"})
    io::register_file_system_maker(scheme, io::webhdfs_file_system).IgnoreError();
  return true;
}

}  // namespace distribute::io_internal
