#pragma once
/// Random numbers that depend on a key alone, so that they are the same on every thread and in
/// every process.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <span>

namespace distribute::data {

/// Gives number `index` of the generator `key`, in [0, count). The generator is counter based, so a
/// position in its sequence is one number.
int64_t draw(uint64_t key, int64_t index, int64_t count);

/// Combines all `parts`, such as seed, epoch and number of the element, into one key.
uint64_t random_key(std::span<const uint64_t> parts);

/// Gives the numbers of one key in turn. It is cheap to copy; used by one thread.
class Random {
 public:
  explicit Random(uint64_t key) : key_(key) {}

  /// Returns the next 64 random bits.
  uint64_t bits();
  /// Returns a random integer in [0, count).
  int64_t below(int64_t count) { return draw(key_, next_++, count); }
  /// Returns a random float in [low, high), made from 24 random bits.
  float uniform(float low = 0, float high = 1);
  /// Returns a normally distributed number with mean 0 and variance 1.
  float normal();
  bool coin() { return bits() >> 63; }

 private:
  uint64_t key_;
  int64_t next_ = 0;
};

}  // namespace distribute::data
