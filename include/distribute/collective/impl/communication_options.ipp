#pragma once
#include <distribute/base/error.hpp>
#include <distribute/collective/communication_options.hpp>

namespace distribute {

DISTRIBUTE_INLINE CommunicationOptions
CommunicationOptions::merge(const CommunicationOptions& other) const {
  CommunicationOptions merged = *this;
  if (other.bytes_per_pack != 0) merged.bytes_per_pack = other.bytes_per_pack;
  if (other.timeout_seconds) merged.timeout_seconds = other.timeout_seconds;
  if (other.implementation != CommunicationImplementation::Auto)
    merged.implementation = other.implementation;
  merged.bfloat16_gradients |= other.bfloat16_gradients;
  return merged;
}

DISTRIBUTE_INLINE void CommunicationOptions::check() const {
  if (bytes_per_pack < 0)
    throw InvalidArgumentError(str_cat("bytes_per_pack must be >= 0, not ", bytes_per_pack));
  if (timeout_seconds && *timeout_seconds <= 0)
    throw InvalidArgumentError(str_cat("timeout_seconds must be > 0, not ", *timeout_seconds));
}

}  // namespace distribute
