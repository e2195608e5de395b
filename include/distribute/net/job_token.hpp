#pragma once
/// The token of a job, and message authentication codes made with it.

#include <distribute/base/config.hpp>
#include <distribute/net/address.hpp>

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

namespace distribute::net {

/// False in builds without OpenSSL.
bool has_hmac();

/// Computes HMAC-SHA256: 32 bytes.
/// Errors  Unimplemented in a build without OpenSSL.
absl::StatusOr<std::string> hmac_sha256(std::string_view key, std::string_view message);

/// Gives random bytes from the system's source for keys.
absl::StatusOr<std::string> random_bytes(size_t count);
/// Gives a random number from the same source. Errors  as random_bytes().
absl::StatusOr<uint64_t> random_number();

/// Compares in a time that does not depend on where the texts differ.
bool equal_in_constant_time(std::string_view a, std::string_view b);

/// The smallest token that is accepted; 16 random bytes are 128 bits.
inline constexpr size_t kMinJobTokenBytes = 16;

/// Checks that `token` cannot be guessed. An empty token, for a job without one, is allowed.
/// Messages name `source` but never show the token.
/// Errors  InvalidArgument for less than kMinJobTokenBytes, since others could guess it from one
///         handshake.
absl::Status check_job_token(const std::string& token, const std::string& source);

/// DISTRIBUTE_JOB_TOKEN, or the contents of the file DISTRIBUTE_JOB_TOKEN_FILE without white space
/// at its ends; empty when neither is set.
/// Errors  InvalidArgument when both are set, when the file cannot be read or is empty, and as
///         check_job_token.
absl::StatusOr<std::string> job_token_from_environment();

/// Makes a token for a new job: 256 random bits as hexadecimal digits.
absl::StatusOr<std::string> make_job_token();

/// Checks that a task may use `address`: with a token always, without one only on this machine or
/// when DISTRIBUTE_INSECURE=1 is set.
/// Errors  FailedPrecondition with the cure.
absl::Status check_exposure(const Address& address, bool has_token, bool insecure);

}  // namespace distribute::net
