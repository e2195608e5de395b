#pragma once
/// Where a launcher writes: its stdout, its stderr and files, none of which makes it wait.

#include <distribute/base/config.hpp>
#include <distribute/launch/detail/descriptor.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace distribute::launch_internal {

/// Invariants: (1) text is written in the order in which it was added, or counted as lost; (2) no
/// call blocks. A regular file is written at once; a pipe, a terminal and every other kind, whose
/// reader may stall, by a thread of its own, which is left behind where a write never returns.
/// Thread-compatible.
class OutputQueue {
 public:
  struct State;  // shared with the thread

  /// `name` stands in messages; `descriptor` outlives the queue. `changed` is an eventfd that the
  /// thread adds to when a full queue has room again, or all is written.
  OutputQueue(std::string name, int descriptor, std::shared_ptr<launch::Descriptor> changed);
  /// Makes the file, or truncates it. A FIFO is opened when it has a reader.
  /// Throws  UnavailableError with the path.
  OutputQueue(const std::string& path, std::shared_ptr<launch::Descriptor> changed);
  OutputQueue(OutputQueue&&) noexcept = default;
  OutputQueue& operator=(OutputQueue&&) noexcept = default;
  ~OutputQueue();

  /// Takes all of it, whether there is room or not, until give_up(). A text that ends in '\r' may
  /// be written over by its own `writer` only: in front of another's it gets a newline.
  void add(std::string_view text, const void* writer = nullptr);
  /// Whether what waits is below kMostBytes, or a full queue loses what is added. Who adds only
  /// then waits for the reader, and loses nothing.
  bool has_room() const;
  size_t waiting_bytes() const;
  /// Whether a full queue loses what is added, so that no task has to wait for room in it.
  void lose_when_full(bool loses);
  /// Loses what waits and all that comes.
  void give_up();
  /// "120 bytes of stdout (Broken pipe)"; empty when all was written.
  std::string lost() const;
  /// Whether something was lost otherwise than by a reader that has gone.
  bool has_failed() const;

  static constexpr size_t kMostBytes = size_t{1} << 20;

 private:
  void add_text(std::string_view text);

  std::shared_ptr<State> state_;
};

/// The outputs of one launcher, in all attempts of its job. Thread-compatible.
class Outputs {
 public:
  Outputs();

  OutputQueue& out() { return out_; }
  /// The queue of out() where both are the same file, so that lines keep their order.
  OutputQueue& err() { return one_file_ ? out_ : err_; }
  /// Gives the same queue for the same path. Throws  as OutputQueue.
  OutputQueue& file(const std::string& path);
  /// For ::poll: readable when one of them has room again, or has written all.
  int native() const { return changed_->native(); }
  void forget_changes() const;

  size_t waiting_bytes() const;  // of all of them together
  void lose_when_full(bool loses);
  void give_up();
  /// What was lost of all of them, joined by commas.
  std::string lost() const;
  bool has_failed() const;

 private:
  std::shared_ptr<launch::Descriptor> changed_;
  OutputQueue out_, err_;
  std::map<std::string, OutputQueue> files_;
  bool one_file_, loses_ = false;
};

}  // namespace distribute::launch_internal
