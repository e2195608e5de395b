#pragma once
#include <distribute/base/error.hpp>
#include <distribute/launch/detail/line_buffer.hpp>

namespace distribute::launch {

DISTRIBUTE_INLINE std::string LineBuffer::add(std::string_view bytes) {
  std::string lines;
  for (size_t end; (end = bytes.find_first_of("\r\n")) != std::string_view::npos;) {
    const bool whole = bytes[end] == '\n' || bytes.substr(end).starts_with("\r\n");
    if (bytes[end] != '\n' && whole) ++end;
    begun_ += bytes.substr(0, end);
    lines += whole ? end_line() : draw();
    in_place_ = !whole;
    begun_.clear();
    bytes.remove_prefix(end + 1);
  }
  begun_ += bytes;
  if (in_place_ && begun_.size() <= kLongestUpdate) lines += draw();
  if (begun_.size() > kLongestLine) lines += finish();
  return lines;
}

DISTRIBUTE_INLINE std::string LineBuffer::draw() {
  if (begun_.empty() || begun_ == drawn_) return "";
  drawn_ = begun_;
  return prefix_ + begun_ + "\r";
}

DISTRIBUTE_INLINE std::string LineBuffer::end_line() {
  const std::string line = prefix_ + (begun_.empty() ? drawn_ : begun_) + "\n";
  begun_.clear();
  drawn_.clear();
  return line;
}

DISTRIBUTE_INLINE std::string LineBuffer::finish() {
  return begun_.empty() && drawn_.empty() ? "" : end_line();
}

DISTRIBUTE_INLINE std::string task_prefix(const std::string& name, int number, bool color) {
  if (!color) return "[" + name + "] ";
  constexpr int kColors = 6, kFirstColor = 31;  // red to cyan
  return str_cat("\x1b[", kFirstColor + (number + 1) % kColors, "m[", name, "]\x1b[0m ");
}

}  // namespace distribute::launch
