#pragma once
#include <distribute/base/error.hpp>
#include <distribute/collective/communication_options.hpp>

#include <cctype>
#include <string>

namespace distribute {

DISTRIBUTE_INLINE CommunicationImplementation
communication_implementation_from_string(std::string_view name) {
  std::string upper(name);
  for (char& c : upper) c = char(std::toupper(static_cast<unsigned char>(c)));
  if (upper == "AUTO") return CommunicationImplementation::Auto;
  if (upper == "RING") return CommunicationImplementation::Ring;
  if (upper == "NCCL") return CommunicationImplementation::Nccl;
  throw InvalidArgumentError(
      concat("communication implementation '", name, "' is unknown: AUTO, RING or NCCL"));
}

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
    throw InvalidArgumentError(concat("bytes_per_pack must be >= 0, not ", bytes_per_pack));
  if (timeout_seconds && *timeout_seconds <= 0)
    throw InvalidArgumentError(concat("timeout_seconds must be > 0, not ", *timeout_seconds));
}

}  // namespace distribute
