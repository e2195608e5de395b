#pragma once
/// The seed that random::set_seed sets.

#include <distribute/base/config.hpp>
#include <distribute/base/process_state.hpp>

#include <atomic>
#include <cstdint>

namespace distribute::ops_internal {

struct GlobalSeed {
  std::atomic<uint64_t> value{0};  // tf.random.set_seed
};

inline std::atomic<uint64_t>& global_seed() { return in_process<GlobalSeed>().value; }

}  // namespace distribute::ops_internal
