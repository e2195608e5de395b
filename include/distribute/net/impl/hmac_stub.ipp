#pragma once
#if !DISTRIBUTE_HAS_OPENSSL
#include <distribute/base/config.hpp>
#include <distribute/net/job_token.hpp>
#include <distribute/net/message.hpp>

#include <algorithm>

#include <unistd.h>

namespace distribute::net {

DISTRIBUTE_INLINE bool has_hmac() { return false; }

DISTRIBUTE_INLINE absl::StatusOr<std::string> hmac_sha256(std::string_view, std::string_view) {
  return absl::UnimplementedError(
      "this build has no OpenSSL and cannot check a job token; " DISTRIBUTE_GET_OPENSSL);
}

DISTRIBUTE_INLINE absl::StatusOr<std::string> random_bytes(size_t count) {
  std::string bytes(count, '\0');
  for (size_t done = 0; done < count; done += 256)
    if (::getentropy(bytes.data() + done, std::min<size_t>(count - done, 256)) != 0)
      return absl::InternalError("the system has no random bytes");
  return bytes;
}

DISTRIBUTE_INLINE absl::StatusOr<uint64_t> random_number() {
  const auto bytes = random_bytes(sizeof(uint64_t));
  if (!bytes.ok()) return bytes.status();
  return parse_message<uint64_t>(*bytes, "random number");
}

DISTRIBUTE_INLINE bool equal_in_constant_time(std::string_view a, std::string_view b) {
  volatile unsigned char difference = a.size() != b.size();
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    difference = difference | (unsigned char)(a[i] ^ b[i]);
  return difference == 0;
}

}  // namespace distribute::net
#endif
