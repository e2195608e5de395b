#pragma once
/// Signatures with private RSA keys (OpenSSL), as service accounts prove who they are.

#include <distribute/base/config.hpp>

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

namespace distribute::io {

/// The RSASSA-PKCS1-v1_5 signature with SHA-256 ("RS256").
/// Errors  InvalidArgument when `private_key` is no unencrypted PEM text of an RSA key;
///         Unimplemented in a build without OpenSSL.
absl::StatusOr<std::string> rsa_sha256_sign(const std::string& private_key,
                                            std::string_view message);

}  // namespace distribute::io
