#pragma once
/// Digests that object stores require.

#include <distribute/base/config.hpp>

#include <string>
#include <string_view>

#include <absl/status/statusor.h>

namespace distribute::io {

/// False in builds without OpenSSL, in which every digest below is empty.
bool has_digests();

/// Computes SHA-256: 32 bytes.
std::string sha256(std::string_view bytes);
/// Computes MD5: 16 bytes; empty also if the system's policy forbids MD5.
std::string md5(std::string_view bytes);
/// Computes HMAC-SHA256: 32 bytes.
std::string hmac_sha256(std::string_view key, std::string_view message);

/// Makes the RSASSA-PKCS1-v1_5 signature with SHA-256 ("RS256").
/// Errors  InvalidArgument when `private_key` is no unencrypted PEM text of an RSA key;
///         Unimplemented in a build without OpenSSL.
absl::StatusOr<std::string> rsa_sha256_sign(const std::string& private_key,
                                            std::string_view message);

}  // namespace distribute::io
