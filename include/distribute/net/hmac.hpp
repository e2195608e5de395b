#pragma once
/// Message authentication and random bytes (OpenSSL); builds without it have no authentication.

#include <distribute/base/config.hpp>

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

namespace distribute::net {

/// False in builds without OpenSSL.
bool has_hmac();

/// HMAC-SHA256: 32 bytes.
/// Errors  Unimplemented in a build without OpenSSL.
absl::StatusOr<std::string> hmac_sha256(std::string_view key, std::string_view message);

/// From the system's source for keys.
absl::StatusOr<std::string> random_bytes(size_t count);
/// The same as a number; errors as of random_bytes.
absl::StatusOr<uint64_t> random_number();

/// Takes the same time wherever the texts differ.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace distribute::net
