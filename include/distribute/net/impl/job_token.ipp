#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/base/status.hpp>
#include <distribute/net/job_token.hpp>

#include <cstdlib>
#include <mutex>
#include <set>

#include <sys/stat.h>

namespace distribute::net_internal {

/// Files that this process has warned about.
struct ReadableTokens {
  std::mutex mutex;  // guards paths
  std::set<std::string> paths;
};

/// Warns once in a process for each file.
DISTRIBUTE_INLINE void warn_when_others_may_read(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || (info.st_mode & (S_IROTH | S_IWOTH)) == 0) return;
  auto& warned = in_process<ReadableTokens>();
  const std::lock_guard lock(warned.mutex);
  if (!warned.paths.insert(path).second) return;
  log_warning("net", str_cat("DISTRIBUTE_JOB_TOKEN_FILE=", path,
                             ": every user of this machine may read or change the job's token: "
                             "chmod 600 (a secret of Kubernetes: defaultMode: 0400)"));
}

DISTRIBUTE_INLINE absl::StatusOr<std::string> read_token_file(const std::string& path) {
  std::string token;
  try {
    token = untrusted::read_text_file(path, 4096);
  } catch (const Error& error) {
    return make_status(error.code(), str_cat("DISTRIBUTE_JOB_TOKEN_FILE: ", error.what()));
  }
  if (untrusted::trimmed(token).empty())
    return absl::InvalidArgumentError(
        str_cat("DISTRIBUTE_JOB_TOKEN_FILE=", path, ": the file is empty"));
  warn_when_others_may_read(path);
  return token;
}

/// Without the white space around it, such as the newline of a file that became a variable.
DISTRIBUTE_INLINE absl::StatusOr<std::string> checked(std::string_view text,
                                                      const std::string& source) {
  const std::string token(untrusted::trimmed(text));
  if (token.empty())
    return absl::InvalidArgumentError(str_cat(source, " holds nothing but white space"));
  const absl::Status status = net::check_job_token(token, source);
  if (!status.ok()) return status;
  return token;
}

}  // namespace distribute::net_internal

namespace distribute::net {

DISTRIBUTE_INLINE absl::Status check_job_token(const std::string& token,
                                               const std::string& source) {
  if (token.empty() || token.size() >= kMinJobTokenBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(str_cat(
      source, ": the job's token has ", token.size(), token.size() == 1 ? " byte" : " bytes",
      ", which strangers can guess; wanted ", kMinJobTokenBytes,
      " or more, and random: head -c 32 /dev/urandom | base64 (\"distribute run\" makes one by "
      "itself)"));
}

DISTRIBUTE_INLINE absl::StatusOr<std::string> job_token_from_environment() {
  const std::string token = Environment().text("DISTRIBUTE_JOB_TOKEN");
  const std::string file = Environment().text("DISTRIBUTE_JOB_TOKEN_FILE");
  if (file.empty() && token.empty()) return token;
  if (file.empty()) return net_internal::checked(token, "DISTRIBUTE_JOB_TOKEN");
  if (!token.empty())
    return absl::InvalidArgumentError(
        "DISTRIBUTE_JOB_TOKEN and DISTRIBUTE_JOB_TOKEN_FILE are both set; unset one");
  const auto read = net_internal::read_token_file(file);
  if (!read.ok()) return read;
  return net_internal::checked(*read, "DISTRIBUTE_JOB_TOKEN_FILE=" + file);
}

DISTRIBUTE_INLINE absl::StatusOr<std::string> make_job_token() {
  const auto bytes = random_bytes(32);
  if (!bytes.ok()) return bytes.status();
  std::string token;
  for (const unsigned char byte : *bytes) {
    token += "0123456789abcdef"[byte >> 4];
    token += "0123456789abcdef"[byte & 15];
  }
  return token;
}

DISTRIBUTE_INLINE absl::Status check_exposure(const Address& address, bool has_token,
                                              bool insecure) {
  if (has_token || insecure || address.is_loopback()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      str_cat("without a job token tasks may only use loopback addresses, and ", address.text(),
              " is not one. Give all tasks the same secret in DISTRIBUTE_JOB_TOKEN or "
              "DISTRIBUTE_JOB_TOKEN_FILE (\"distribute run\" does it by itself), or say "
              "DISTRIBUTE_INSECURE=1 where every host of the network may join the job"));
}

}  // namespace distribute::net
