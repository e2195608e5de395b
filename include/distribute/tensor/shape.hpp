#pragma once
/// The sizes of a tensor's axes, and NumPy's broadcasting rule.

#include <distribute/base/config.hpp>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace distribute {

/// A shape has up to eight axes, the outermost first; a scalar has none. Shapes are cheap to copy.
class Shape {
 public:
  static constexpr int kMaxRank = 8;

  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  /// Throws  InvalidArgumentError for more than eight axes or a negative size.
  explicit Shape(std::span<const int64_t> dims);

  /// Returns the number of axes.
  int rank() const { return rank_; }
  /// Returns the size of an axis; negative axes count from the end.
  /// Throws  InvalidArgumentError when there is no such axis.
  int64_t operator[](int axis) const { return dims_[size_t(normalize_axis(axis))]; }
  /// Returns the number of elements; 1 for a scalar.
  int64_t num_elements() const;
  std::span<const int64_t> dims() const { return {dims_.data(), size_t(rank_)}; }
  const int64_t* begin() const { return dims_.data(); }
  const int64_t* end() const { return dims_.data() + rank_; }

  /// Turns a negative axis, which counts from the end, into one in [0, rank).
  int normalize_axis(int axis) const;
  Shape with(int axis, int64_t size) const;
  void push_back(int64_t size);

  bool operator==(const Shape& other) const = default;

 private:
  std::array<int64_t, kMaxRank> dims_{};
  int rank_ = 0;
};

/// Writes a shape as "[50, 28, 28, 1]".
std::string to_string(const Shape& shape);

/// Gives the shape that operands of shapes `a` and `b` broadcast to.
/// Throws  InvalidArgumentError that names `op` and shows both shapes when they do not broadcast.
/// Source  tf.broadcast_static_shape
Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b);

}  // namespace distribute
