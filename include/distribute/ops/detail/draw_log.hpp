#pragma once
/// Counters of random draws, kept for drawing the same again.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace distribute::ops_internal {

/// While it lives, counters that this thread asks for are written to `counters`, or read from it
/// again. Scopes nest: the innermost one counts, and an outer one sees what it writes or reads.
class [[nodiscard]] DrawLog {
 public:
  enum class Mode { Write, Read };
  DrawLog(Mode mode, std::vector<uint64_t>& counters);
  ~DrawLog();
  DrawLog(const DrawLog&) = delete;
  DrawLog& operator=(const DrawLog&) = delete;

  /// What `counter` gives, or what it gave the first time.
  static uint64_t next(const std::function<uint64_t()>& counter);

 private:
  uint64_t draw(const std::function<uint64_t()>& counter);

  Mode mode_;
  std::vector<uint64_t>& counters_;
  size_t read_ = 0;
  DrawLog* outer_;
};

}  // namespace distribute::ops_internal
