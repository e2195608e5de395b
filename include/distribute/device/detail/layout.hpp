#pragma once
/// How a backend arranges the elements of a tensor other than in row-major order.

#include <distribute/base/config.hpp>
#include <distribute/device/buffer.hpp>
#include <distribute/device/dtype.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace distribute {

/// An arrangement that only backends understand. Immutable, thread-safe.
/// Row-major order has no Layout object: a null pointer stands for it.
class Layout {
 public:
  virtual ~Layout() = default;
  /// Size in bytes of a block in this layout, padding included.
  virtual int64_t bytes() const = 0;
  /// True when both put the same elements at the same places.
  virtual bool equals(const Layout& other) const = 0;
  /// True when the block holds nothing but the tensor's elements, so that an elementwise function
  /// may run over the whole block.
  virtual bool dense() const = 0;
  /// False when the block holds what the elements are computed from, as IndexedSlices do.
  virtual bool holds_elements() const { return true; }
  /// For images whose channels come in groups of `inner`: [outer, height, width, inner] of the
  /// block; otherwise empty. It lets pooling run on any image layout.
  virtual std::span<const int64_t> image_block() const { return {}; }
  /// For images: the same arrangement for another height and width. Equal calls give the same
  /// object.
  virtual std::shared_ptr<const Layout> resized_image(int64_t height, int64_t width) const {
    (void)height, (void)width;
    return nullptr;
  }
  /// For images: the same places for elements of another type. Equal calls give the same object;
  /// null when there is no such arrangement.
  virtual std::shared_ptr<const Layout> retyped(DType dtype) const {
    (void)dtype;
    return nullptr;
  }
  virtual std::string name() const = 0;

  /// Copies a block in this layout to row-major order, and back.
  virtual void to_row_major(const void* from, void* to) const = 0;
  virtual void from_row_major(const void* from, void* to) const = 0;
};

using LayoutPtr = std::shared_ptr<const Layout>;

/// False for a block that only row_major() turns into elements.
inline bool holds_elements(const LayoutPtr& layout) { return !layout || layout->holds_elements(); }

/// True when both are row-major or both have equal layouts.
inline bool same_layout(const LayoutPtr& a, const LayoutPtr& b) {
  return a == b || (a && b && a->equals(*b));
}

/// A reference to a block of elements, with its arrangement. Backends take and return arrays.
struct Array {
  std::shared_ptr<Buffer> buffer;
  int64_t offset_bytes = 0;
  LayoutPtr layout;

  /// The first byte of the array.
  char* bytes() const { return static_cast<char*>(buffer->data()) + offset_bytes; }
  template <typename T>
  T* data() const {
    return reinterpret_cast<T*>(bytes());
  }
};

/// Makes an array of `bytes` bytes (or of the size that `layout` needs) with undefined contents.
inline Array make_array(int64_t bytes, Device device, LayoutPtr layout = nullptr) {
  const int64_t size = layout ? layout->bytes() : bytes;
  return {std::make_shared<Buffer>(size, device), 0, std::move(layout)};
}

}  // namespace distribute
