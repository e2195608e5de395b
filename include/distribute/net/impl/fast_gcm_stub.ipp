#pragma once
#if !DISTRIBUTE_HAS_IPSEC_MB
#include <distribute/net/detail/fast_gcm.hpp>

namespace distribute::net_internal {

// This class is never instantiated here; OpenSSL encrypts.
struct FastGcm::Impl {};

DISTRIBUTE_INLINE std::shared_ptr<const FastGcm> FastGcm::make() { return nullptr; }
DISTRIBUTE_INLINE FastGcm::FastGcm(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DISTRIBUTE_INLINE FastGcm::~FastGcm() = default;
DISTRIBUTE_INLINE std::shared_ptr<const void> FastGcm::make_key(const unsigned char*) const {
  return nullptr;
}
DISTRIBUTE_INLINE void FastGcm::seal(const void*, const GcmNonce&, std::span<const std::byte>,
                                     unsigned char, std::byte*) const {}
DISTRIBUTE_INLINE bool FastGcm::open(const void*, const GcmNonce&, std::span<const std::byte>,
                                     std::byte*, unsigned char&) const {
  return false;
}

}  // namespace distribute::net_internal
#endif
