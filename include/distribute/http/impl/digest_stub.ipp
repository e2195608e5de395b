#pragma once
#if !DISTRIBUTE_HAS_OPENSSL
#include <distribute/http/credentials.hpp>

namespace distribute::io {

DISTRIBUTE_INLINE bool has_digests() { return false; }
DISTRIBUTE_INLINE std::string sha256(std::string_view) { return ""; }
DISTRIBUTE_INLINE std::string md5(std::string_view) { return ""; }
DISTRIBUTE_INLINE std::string hmac_sha256(std::string_view, std::string_view) { return ""; }

}  // namespace distribute::io
#endif
