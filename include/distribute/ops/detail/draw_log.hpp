#pragma once
/// Records the counters of random draws, so that the same numbers can be drawn again.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace distribute::ops_internal {

/// While it lives, counters that this thread asks for are written to `counters`, or read from there
/// again. Scopes nest: the innermost one is used, and an outer one records what it writes or reads.
class [[nodiscard]] DrawLog {
 public:
  enum class Mode { Write, Read };
  DrawLog(Mode mode, std::vector<uint64_t>& counters);
  ~DrawLog();
  DrawLog(const DrawLog&) = delete;
  DrawLog& operator=(const DrawLog&) = delete;

  /// Gives what `counter` returns or, in a scope that reads, what it returned the first time.
  static uint64_t next(const std::function<uint64_t()>& counter);

 private:
  uint64_t draw(const std::function<uint64_t()>& counter);

  Mode mode_;
  std::vector<uint64_t>& counters_;
  size_t read_ = 0;
  DrawLog* outer_;
};

}  // namespace distribute::ops_internal
