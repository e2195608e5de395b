#pragma once
/// Cuts a stream of bytes into whole lines with a prefix, and into the updates of a progress line.

#include <distribute/base/config.hpp>

#include <string>
#include <string_view>

namespace distribute::launch {

/// Text that a program overwrites on its line is passed on at once: each text in front of a '\r',
/// and the text read behind one, as "prefix, text, '\r'". Thread-compatible.
class LineBuffer {
 public:
  /// `prefix` is put in front of every line.
  explicit LineBuffer(std::string prefix) : prefix_(std::move(prefix)) {}

  /// Adds bytes and returns the lines that are now complete, and the newest update of one that is
  /// overwritten. A line beyond kLongestLine is cut.
  std::string add(std::string_view bytes);
  /// Returns the rest as a line.
  std::string finish();

  static constexpr size_t kLongestLine = size_t{1} << 20;
  static constexpr size_t kLongestUpdate = 512;  // of an unfinished text behind a '\r'

 private:
  std::string draw();
  std::string end_line();

  std::string prefix_, begun_, drawn_;  // drawn_ is the last update, still on the line
  bool in_place_ = false;               // whether the line has had a '\r'
};

/// Returns "[worker 0] ", in a colour chosen by `number` if `color` is set.
std::string task_prefix(const std::string& name, int number, bool color);

}  // namespace distribute::launch
