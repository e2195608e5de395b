#pragma once
/// The latest progress text of every task.

#include <distribute/base/config.hpp>
#include <distribute/net/message.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::cluster_internal {

/// Longer texts are cut, as they are part of every heartbeat.
inline constexpr size_t kProgressBytes = 1024;

}  // namespace distribute::cluster_internal

namespace distribute {

/// Tasks that are in the same place, such as "in all_reduce(sum) #12 float32 x 1000".
struct ProgressGroup {
  std::string place = {};  // empty: nothing was heard from them yet
  uint32_t tasks = 0;
  std::vector<uint32_t> ranks = {};  // the first ten

  void fields(net::FieldVisitor& visit) {
    visit("place", place, cluster_internal::kProgressBytes)("tasks", tasks)("ranks", ranks);
  }
};

}  // namespace distribute

namespace distribute::cluster_internal {

/// A task's new text.
struct ProgressChange {
  uint32_t rank = 0;
  std::string text = {};

  void fields(net::FieldVisitor& visit) { visit("rank", rank)("text", text, kProgressBytes); }
};

/// In a job of more tasks, members get groups of tasks instead of every task's text.
inline constexpr size_t kMostTexts = 32;

/// Returns a position without its time.
std::string place_of(const std::string& position);
/// Returns the groups of tasks by place, the smallest first, at most twenty: further ones count as
/// one, "in other places".
std::vector<ProgressGroup> group_progress(const std::vector<std::string>& positions);
/// Returns "worker 5 (10.0.0.5:2222), worker 9 (10.0.0.9:2222) and 3 more".
std::string names_of(const ProgressGroup& group,
                     const std::function<std::string(int rank)>& describe);

/// Progress texts of all tasks. The leader's copy is the source; the others get the changes.
/// Thread-compatible.
class ProgressBoard {
 public:
  explicit ProgressBoard(size_t tasks) : texts_(tasks), changed_(tasks) {}

  void set(int rank, std::string_view text);
  const std::vector<std::string>& texts() const { return texts_; }

  /// Returns the changes after version `seen`, as bytes, and sets `seen` to the current version.
  std::string changes(uint64_t& seen) const;
  /// Applies changes() of another board; damaged bytes change nothing.
  void apply(std::string_view changes);

 private:
  std::vector<std::string> texts_;
  std::vector<uint64_t> changed_;  // version of each text
  uint64_t clock_ = 0;
};

}  // namespace distribute::cluster_internal
