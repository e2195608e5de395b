#pragma once
#include <distribute/base/error.hpp>
#include <distribute/launch/detail/line_buffer.hpp>

namespace distribute::launch {

DISTRIBUTE_INLINE std::string LineBuffer::add(std::string_view bytes) {
  std::string lines;
  for (size_t end; (end = bytes.find('\n')) != std::string_view::npos;) {
    lines += prefix_ + begun_;
    lines += bytes.substr(0, end + 1);
    begun_.clear();
    bytes.remove_prefix(end + 1);
  }
  begun_ += bytes;
  if (begun_.size() > kLongestLine) lines += finish();
  return lines;
}

DISTRIBUTE_INLINE std::string LineBuffer::finish() {
  if (begun_.empty()) return "";
  const std::string line = prefix_ + begun_ + "\n";
  begun_.clear();
  return line;
}

DISTRIBUTE_INLINE std::string task_prefix(const std::string& name, int number, bool color) {
  if (!color) return "[" + name + "] ";
  constexpr int kColors = 6, kFirstColor = 31;  // red to cyan
  return str_cat("\x1b[", kFirstColor + (number + 1) % kColors, "m[", name, "]\x1b[0m ");
}

}  // namespace distribute::launch
