#pragma once
/// Cuts a stream of bytes into whole lines with a prefix.

#include <distribute/base/config.hpp>

#include <string>
#include <string_view>

namespace distribute::launch {

/// Thread-compatible.
class LineBuffer {
 public:
  /// `prefix` stands in front of every line that comes out.
  explicit LineBuffer(std::string prefix) : prefix_(std::move(prefix)) {}

  /// Adds bytes and gives the lines that are now whole. A line beyond kLongestLine is cut.
  std::string add(std::string_view bytes);
  /// What is left, as a line of its own.
  std::string finish();

  static constexpr size_t kLongestLine = size_t{1} << 20;

 private:
  std::string prefix_, begun_;
};

/// "[worker 0] ", in a colour that goes with `number` where `color` is set.
std::string task_prefix(const std::string& name, int number, bool color);

}  // namespace distribute::launch
