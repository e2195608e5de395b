#pragma once
/// How often a random transformation was passed over.

#include <distribute/base/config.hpp>

#include <atomic>
#include <cstdint>

namespace distribute::data {

/// The copy of a node counts its own passes.
struct PassCount {
  PassCount() = default;
  PassCount(const PassCount&) {}
  std::atomic<uint64_t> next{0};
};

}  // namespace distribute::data
