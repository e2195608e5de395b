#pragma once
/// The value every operation takes and gives: a dtype- and device-erased array.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/device/detail/layout.hpp>
#include <distribute/device/placement.hpp>
#include <distribute/tensor/detail/nested_values.hpp>
#include <distribute/tensor/shape.hpp>

#include <concepts>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace distribute {

struct TensorHints;
struct TensorImpl;

/// A cheap handle to shared, logically immutable elements in row-major order (images NHWC). A
/// default-constructed tensor has no value: bool(tensor) is false. Thread-safe to read.
/// Source  tf.Tensor
class Tensor {
 public:
  Tensor() = default;
  /// A scalar of the value's type.
  template <Element T>
  Tensor(T value) : Tensor(Shape{}, std::span<const T>(&value, 1)) {}
  /// A vector, as in Tensor{1.0f, 2.0f}.
  template <Element T>
  Tensor(std::initializer_list<T> values)
      : Tensor(Shape{int64_t(values.size())}, std::span<const T>(values.begin(), values.size())) {}
  /// A literal such as 1.0 or {0.5, 1.0} becomes float32, as a Python number does.
  template <std::same_as<double> T>
  Tensor(T value) : Tensor(float(value)) {}
  template <std::same_as<double> T>
  Tensor(std::initializer_list<T> values)
      : Tensor(Shape{int64_t(values.size())}, std::vector<float>(values.begin(), values.end())) {}
  /// A matrix of these rows, as in Tensor{{1.0f, 2.0f}, {3.0f, 4.0f}}, or a list of matrices.
  /// Throws  InvalidArgumentError when rows have different lengths.
  template <tensor_internal::Literal T>
  Tensor(std::initializer_list<std::initializer_list<T>> rows)
      : Tensor(tensor_internal::NestedValues<T>(rows)) {}
  template <tensor_internal::Literal T>
  Tensor(std::initializer_list<std::initializer_list<std::initializer_list<T>>> matrices)
      : Tensor(tensor_internal::NestedValues<T>(matrices)) {}
  /// Copies row-major `values` into a tensor of `shape`.
  /// Throws  InvalidArgumentError when their number is not the shape's.
  template <Element T>
  Tensor(const Shape& shape, std::span<const T> values)
      : Tensor(shape, dtype_of<T>, values.data(), int64_t(values.size())) {}
  template <Element T>
  Tensor(const Shape& shape, const std::vector<T>& values)
      : Tensor(shape, std::span<const T>(values)) {}
  /// Makes float32 elements of double ones, as with literals.
  template <std::same_as<double> T>
  Tensor(const Shape& shape, const std::vector<T>& values)
      : Tensor(shape, std::vector<float>(values.begin(), values.end())) {}
  /// Wraps an array that a backend made.
  Tensor(const Shape& shape, DType dtype, Array array);
  /// Allocates memory of undefined contents, in `layout` or row-major.
  static Tensor empty(const Shape& shape, DType dtype, Device device = current_device(),
                      LayoutPtr layout = nullptr);

  /// Whether it has a value. The functions below throw InvalidArgumentError where it has none.
  explicit operator bool() const { return impl_ != nullptr; }
  const Shape& shape() const;
  DType dtype() const;
  Device device() const;
  int64_t num_elements() const { return shape().num_elements(); }
  /// Identifies the value for tapes: handles to the same value have equal ids.
  uint64_t id() const;

  /// Gives the row-major elements in host memory. The elements of a tensor on a GPU are copied
  /// once, and the call waits for them.
  /// Throws  InvalidArgumentError when T is not the element type.
  template <Element T>
  std::span<const T> data() const {
    return {static_cast<const T*>(checked_data(dtype_of<T>)), size_t(num_elements())};
  }
  /// Gives the only element. Throws  InvalidArgumentError when there is not exactly one.
  template <Element T>
  T item() const {
    check_single();
    return dispatch(dtype(), [&](auto type) { return T(data<decltype(type)>()[0]); });
  }
  std::vector<float> to_vector() const;
  /// Gives the part at this place of the first axis, without that axis; a negative index counts
  /// from the end. Tapes follow it. strided_slice() gives parts of several axes.
  /// Throws  InvalidArgumentError for an index that the axis does not have, and for a scalar.
  /// Source  tf.Tensor.__getitem__
  Tensor operator[](int64_t index) const;

  /// Copies the elements to another device; gives this tensor when it is there already. Tapes
  /// follow it and the two functions below.
  Tensor to(Device device) const;
  /// Gives the same elements another shape without a copy, as reshape() does.
  Tensor view(const Shape& shape) const;
  /// Gives the rows [begin, end) of the first axis without a copy.
  Tensor rows(int64_t begin, int64_t end) const;

  /// Operations read here the block as the backend arranged it, or its row-major form.
  const Array& array() const;
  const LayoutPtr& layout() const { return array().layout; }
  Tensor row_major() const;
  /// Operations write here the host memory of a tensor that is not shared yet.
  template <Element T>
  T* mutable_data() {
    return static_cast<T*>(writable_data(dtype_of<T>));
  }
  /// Variables ask this: true when no other handle shares the elements.
  bool unique() const;
  /// Gives variables the same memory under a new identity.
  Tensor renamed() const;

  /// Prints what to_string() gives.
  friend std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

 private:
  friend struct TensorHints;
  Tensor(const Shape& shape, DType dtype, const void* values, int64_t count);
  template <tensor_internal::Literal T>
  explicit Tensor(const tensor_internal::NestedValues<T>& nested)
      : Tensor(nested.shape(), nested.dtype(), nested.values(), nested.size()) {}
  const void* checked_data(DType wanted) const;
  const void* raw_data(DType wanted) const;
  void* writable_data(DType wanted) const;
  void check_single() const;
  const TensorImpl& impl() const;

  std::shared_ptr<TensorImpl> impl_;
};

/// Readable summary: "Tensor([2, 2], float32, /device:CPU:0) [[1, 2], [3, 4]]", long axes cut.
std::string to_string(const Tensor& tensor);

Tensor zeros(const Shape& shape, DType dtype = DType::Float32);  // all elements are 0
Tensor ones(const Shape& shape, DType dtype = DType::Float32);   // all elements are 1
/// All elements are `value`. Without a dtype an integer or a bool gives a tensor of its own type.
/// Source  tf.fill
Tensor fill(const Shape& shape, double value, DType dtype = DType::Float32,
            Device device = current_device());
template <Element T>
requires(std::integral<T>) Tensor fill(const Shape& shape, T value) {
  return fill(shape, double(value), dtype_of<T>);
}
Tensor zeros_like(const Tensor& tensor);
Tensor ones_like(const Tensor& tensor);

/// Some rows of a larger tensor, such as the gradient of an embedding lookup.
/// Source  tf.IndexedSlices
struct IndexedSlices {
  Tensor values;   // [n, ...]
  Tensor indices;  // int64 [n]
  Shape dense_shape;
};

/// Makes a tensor of `slices.dense_shape` that stores only these rows. Optimizers see the rows;
/// every other operation sees a dense tensor into which each slice is added at its row. Tapes
/// follow the values.
Tensor to_tensor(const IndexedSlices& slices);
bool is_indexed_slices(const Tensor& tensor);
/// Gives the rows that such a tensor stores. No tape follows them.
/// Throws  InvalidArgumentError when the tensor is dense.
IndexedSlices indexed_slices(const Tensor& tensor);

}  // namespace distribute
