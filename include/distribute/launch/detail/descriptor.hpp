#pragma once
/// Owner of a file descriptor.

#include <distribute/base/config.hpp>

#include <utility>

#include <unistd.h>

namespace distribute::launch {

/// Closes the descriptor in its destructor; a moved-from object is empty. Thread-compatible.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  Descriptor(Descriptor&& other) noexcept : descriptor_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) close(), descriptor_ = other.release();
    return *this;
  }
  ~Descriptor() { close(); }

  explicit operator bool() const { return descriptor_ >= 0; }
  /// Returns -1 when empty, which ::poll skips.
  int native() const { return descriptor_; }
  int release() { return std::exchange(descriptor_, -1); }
  void close() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }

 private:
  int descriptor_ = -1;
};

}  // namespace distribute::launch
