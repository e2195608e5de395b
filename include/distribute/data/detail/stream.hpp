#pragma once
/// One pass over a dataset: the stream that gives the elements, and how its position is saved.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/data/batch.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace distribute::data {

namespace data_internal {
class PassThreads;
}

/// Says which pass over the dataset this is; shuffles draw a new order for each pass.
struct Pass {
  uint64_t number = 0;
  std::optional<bool> deterministic = {};  // what the Options nearest to the end say
  /// Limits of the threads that this pass may use; null: those of the machine.
  std::shared_ptr<data_internal::PassThreads> threads = {};
  /// Pass `epoch` over a part that is read several times within this pass.
  Pass child(int64_t epoch) const;
};

/// Collects the few counters of a position.
class StateWriter {
 public:
  void put(int64_t value);
  void put(std::span<const int64_t> values);
  const std::vector<int64_t>& values() const { return values_; }

 private:
  std::vector<int64_t> values_;
};

/// Reads counters back. Throws  InvalidArgumentError for a state that does not fit.
class StateReader {
 public:
  explicit StateReader(std::span<const int64_t> values) : values_(values) {}
  /// Gives the next counter, which must lie in [least, most].
  int64_t get(int64_t least = 0, int64_t most = INT64_MAX);
  bool at_end() const { return values_.empty(); }

 private:
  std::span<const int64_t> values_;
};

/// Gives elements one by one: a Batch, or an int64_t for the rows of a table. One thread at a time.
/// The node that made the stream outlives it.
template <typename T>
class Stream {
 public:
  virtual ~Stream() = default;
  /// Puts the next element into `out`; false at the end, and in all later calls.
  virtual bool next(T& out) = 0;
  /// Skips up to `count` elements and returns how many there were.
  virtual int64_t skip(int64_t count) {
    T dropped{};
    int64_t done = 0;
    while (done < count && next(dropped)) ++done;
    return done;
  }
  virtual void save(StateWriter& state) const = 0;
  /// Restores a position; allowed only on a stream that has given nothing yet.
  virtual void restore(StateReader& state) = 0;

 protected:
  /// Restores a stream whose position is the number of elements given, by reading these again.
  void replay(int64_t count) {
    if (skip(count) != count)
      throw InvalidArgumentError(
          str_cat("the saved position ", count, " lies behind the end of the dataset"));
  }
};

using BatchStream = Stream<Batch>;
using RowStream = Stream<int64_t>;

/// Base of streams that make one element from each of another stream's; both have the same
/// position.
template <typename From>
class OneToOneStream : public BatchStream {
 public:
  explicit OneToOneStream(std::unique_ptr<Stream<From>> input) : input_(std::move(input)) {}
  int64_t skip(int64_t count) override { return input_->skip(count); }
  void save(StateWriter& state) const override { input_->save(state); }
  void restore(StateReader& state) override { input_->restore(state); }

 protected:
  Stream<From>& input() const { return *input_; }

 private:
  std::unique_ptr<Stream<From>> input_;
};

/// Mixes 64 bits (splitmix64's finalizer).
uint64_t mix_bits(uint64_t value);

}  // namespace distribute::data
