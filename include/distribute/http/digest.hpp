#pragma once
/// Digests that object stores ask for.

#include <distribute/base/config.hpp>

#include <string>
#include <string_view>

namespace distribute::io {

/// False in builds without OpenSSL: every digest below is then empty.
bool has_digests();

/// 32 bytes.
std::string sha256(std::string_view bytes);
/// 16 bytes; empty too where the system's policy forbids MD5.
std::string md5(std::string_view bytes);
/// 32 bytes.
std::string hmac_sha256(std::string_view key, std::string_view message);

}  // namespace distribute::io
