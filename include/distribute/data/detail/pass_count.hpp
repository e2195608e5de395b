#pragma once
/// How often a random transformation was passed over.

#include <distribute/base/config.hpp>

#include <atomic>
#include <cstdint>

namespace distribute::data {

struct PassCount {
  std::atomic<uint64_t> next{0};
};

}  // namespace distribute::data
