#pragma once
/// The latest progress text of every task.

#include <distribute/base/config.hpp>
#include <distribute/net/message.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::cluster_internal {

/// Longer texts are cut, as they are part of every heartbeat.
inline constexpr size_t kProgressBytes = 1024;

/// A task's new text.
struct ProgressChange {
  uint32_t rank = 0;
  std::string text = {};

  void fields(net::FieldVisitor& visit) { visit("rank", rank)("text", text, kProgressBytes); }
};

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
