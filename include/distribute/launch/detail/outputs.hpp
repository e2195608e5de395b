#pragma once
/// Outputs of a launcher: its stdout, its stderr and files, none of which blocks it.

#include <distribute/base/config.hpp>
#include <distribute/launch/detail/descriptor.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace distribute::launch_internal {

/// Text that waits to be written. Thread-compatible.
/// 1. Text is written in the order in which it was added, or counted as lost.
/// 2. No call blocks: a regular file is written at once; a pipe, a terminal and every other kind,
///    whose reader may stall, by a separate thread, which is abandoned if a write never returns.
class OutputQueue {
 public:
  struct State;  // shared with the thread

  /// `name` is used in messages; `descriptor` must outlive the queue. `changed` is an eventfd that
  /// the thread signals when a full queue has room again, or all is written.
  OutputQueue(std::string name, int descriptor, std::shared_ptr<launch::Descriptor> changed);
  /// Creates the file, or truncates it. A FIFO is opened when it has a reader.
  /// Throws  UnavailableError with the path.
  OutputQueue(const std::string& path, std::shared_ptr<launch::Descriptor> changed);
  OutputQueue(OutputQueue&&) noexcept = default;
  OutputQueue& operator=(OutputQueue&&) noexcept = default;
  ~OutputQueue();

  /// Adds all of the text, whether there is room or not, until give_up(). A text that ends in '\r'
  /// may be overwritten only by its own `writer`: a text of another writer begins on a new line.
  void add(std::string_view text, const void* writer = nullptr);
  /// Whether less than kMostBytes wait, or a full queue drops new text. A caller that adds only
  /// then waits for the reader, and loses nothing.
  bool has_room() const;
  size_t waiting_bytes() const;
  /// Sets whether a full queue drops new text, so that no task has to wait for room in it.
  void lose_when_full(bool loses);
  /// Drops the waiting text and all text added later.
  void give_up();
  /// Returns "120 bytes of stdout (Broken pipe)"; empty when all was written.
  std::string lost() const;
  /// Whether text was lost for another reason than a reader that has gone.
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
  /// Returns the queue of out() if both are the same file, so that lines keep their order.
  OutputQueue& err() { return one_file_ ? out_ : err_; }
  /// Returns the same queue for the same path. Throws  as OutputQueue.
  OutputQueue& file(const std::string& path);
  /// Returns a descriptor for ::poll: readable when one of them has room again, or has written all.
  int native() const { return changed_->native(); }
  void forget_changes() const;

  size_t waiting_bytes() const;  // total of all queues
  void lose_when_full(bool loses);
  void give_up();
  /// Returns the losses of all queues, joined by commas.
  std::string lost() const;
  bool has_failed() const;

 private:
  std::shared_ptr<launch::Descriptor> changed_;
  OutputQueue out_, err_;
  std::map<std::string, OutputQueue> files_;
  bool one_file_, loses_ = false;
};

}  // namespace distribute::launch_internal
