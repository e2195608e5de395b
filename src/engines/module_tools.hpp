#pragma once
/// What the modules share. They stand alone: nothing of the library is linked.

#include <distribute/collective/engine_module.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace engines {

/// Codes of absl::StatusCode.
inline constexpr int kInvalidArgument = 3, kFailedPrecondition = 9, kUnimplemented = 12,
                     kInternal = 13, kUnavailable = 14;

inline int fail(distribute_engine_error* error, int code, const std::string& text) {
  std::snprintf(error->text, sizeof error->text, "%s", text.c_str());
  return code;
}

/// Events until progress() takes them.
class Events {
 public:
  void add(uint64_t cookie, int code = 0, int peer = -1) { list_.push_back({cookie, code, peer}); }
  bool empty() const { return next_ == list_.size(); }
  int take(distribute_engine_event* out, int most) {
    int count = 0;
    while (count < most && !empty()) out[count++] = list_[next_++];
    if (empty()) list_.clear(), next_ = 0;
    return count;
  }

 private:
  std::vector<distribute_engine_event> list_;
  size_t next_ = 0;
};

}  // namespace engines
