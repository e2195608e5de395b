#pragma once
#include <distribute/data/detail/stream.hpp>
#include <distribute/data/element_spec.hpp>

namespace distribute::data {

DISTRIBUTE_INLINE uint64_t mix_bits(uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

// Pass 0 passes its epochs' numbers on, so that a loop over `d` and a loop over `d.repeat()` see
// the same orders.
DISTRIBUTE_INLINE Pass Pass::child(int64_t epoch) const {
  if (number == kSpecPass) return *this;
  return {number == 0 ? uint64_t(epoch) : mix_bits(mix_bits(number) + uint64_t(epoch)),
          deterministic, threads};
}

DISTRIBUTE_INLINE void StateWriter::put(int64_t value) { values_.push_back(value); }
DISTRIBUTE_INLINE void StateWriter::put(std::span<const int64_t> values) {
  values_.insert(values_.end(), values.begin(), values.end());
}

DISTRIBUTE_INLINE int64_t StateReader::get(int64_t least, int64_t most) {
  if (values_.empty()) throw InvalidArgumentError("the saved position ends too early");
  const int64_t value = values_.front();
  if (value < least || value > most)
    throw InvalidArgumentError(
        str_cat("the saved position holds ", value, " where ", least, " to ", most, " can stand"));
  values_ = values_.subspan(1);
  return value;
}

}  // namespace distribute::data
