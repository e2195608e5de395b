#pragma once
/// Random numbers of layers, different for each call of each replica.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

namespace distribute::nn::nn_internal {

/// The seed from which a call draws its random numbers.
struct CallSeed {
  uint64_t seed;
  std::function<uint64_t()> counter;  // returns the number of the replica's next call
};

/// Counts the calls of each replica. Thread-safe.
class ReplicaCalls {
 public:
  /// Returns the seed of the next call of the calling thread's replica; `seed` is the layer's.
  CallSeed next(uint64_t seed);

 private:
  std::mutex mutex_;  // guards of_replica_
  std::map<int, uint64_t> of_replica_;
};

}  // namespace distribute::nn::nn_internal
