#pragma once
/// Random numbers of layers: each call of each replica has its own.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

namespace distribute::nn::nn_internal {

/// A call draws its random numbers from it.
struct CallSeed {
  uint64_t seed;
  std::function<uint64_t()> counter;  // the next call of the replica
};

/// Thread-safe.
class ReplicaCalls {
 public:
  /// For a call of the calling thread's replica, whose numbers are its own; `seed` is the layer's.
  CallSeed next(uint64_t seed);

 private:
  std::mutex mutex_;  // guards of_replica_
  std::map<int, uint64_t> of_replica_;
};

}  // namespace distribute::nn::nn_internal
