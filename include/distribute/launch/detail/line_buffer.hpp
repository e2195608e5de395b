#pragma once
/// Cuts a stream of bytes into whole lines with a prefix, and into the updates of a progress line.

#include <distribute/base/config.hpp>

#include <string>
#include <string_view>

namespace distribute::launch {

/// Progress that a program writes over itself comes out at once: each text in front of a '\r', and
/// what has been read behind one, as "prefix, text, '\r'". Thread-compatible.
class LineBuffer {
 public:
  /// `prefix` stands in front of every line that comes out.
  explicit LineBuffer(std::string prefix) : prefix_(std::move(prefix)) {}

  /// Adds bytes and gives the lines that are now whole, and the newest updates of one that is
  /// written over. A line beyond kLongestLine is cut.
  std::string add(std::string_view bytes);
  /// What is left, as a line of its own.
  std::string finish();

  static constexpr size_t kLongestLine = size_t{1} << 20;
  static constexpr size_t kLongestUpdate = 512;  // of a text behind a '\r' that has no end yet

 private:
  std::string draw();
  std::string end_line();

  std::string prefix_, begun_, drawn_;  // drawn_: the last update; it stands on the line
  bool in_place_ = false;               // whether the line has had a '\r'
};

/// "[worker 0] ", in a colour that goes with `number` where `color` is set.
std::string task_prefix(const std::string& name, int number, bool color);

}  // namespace distribute::launch
