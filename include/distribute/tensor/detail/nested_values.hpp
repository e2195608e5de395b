#pragma once
/// The elements of nested braces.

#include <distribute/device/dtype.hpp>
#include <distribute/tensor/shape.hpp>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <vector>

namespace distribute::tensor_internal {

template <typename T>
concept Literal = Element<T> || std::same_as<T, double>;

/// Gives the sizes of nested lists one after the other.
class NestedShape {
 public:
  /// Notes that a list at `depth` has `size` members.
  /// Throws  InvalidArgumentError when an earlier list at that depth has another number.
  void add(size_t depth, size_t size);
  Shape shape() const { return Shape(sizes_); }

 private:
  std::vector<int64_t> sizes_;
};

/// Elements in row-major order. Literals of double become float32, as Python's numbers do.
template <Literal T>
class NestedValues {
 public:
  using Stored = std::conditional_t<std::same_as<T, double>, float, T>;

  template <typename List>
  explicit NestedValues(const List& list) {
    add(list, 0);
  }
  Shape shape() const { return shape_.shape(); }
  DType dtype() const { return dtype_of<Stored>; }
  const void* values() const { return values_.data(); }
  int64_t size() const { return int64_t(values_.size()); }

 private:
  // std::vector<bool> has no array of its elements
  using Kept = std::conditional_t<std::same_as<T, bool>, uint8_t, Stored>;

  void add(T value, size_t) { values_.push_back(Kept(Stored(value))); }
  template <typename U>
  void add(const std::initializer_list<U>& list, size_t depth) {
    shape_.add(depth, list.size());
    for (const U& one : list) add(one, depth + 1);
  }

  NestedShape shape_;
  std::vector<Kept> values_;
};

}  // namespace distribute::tensor_internal
