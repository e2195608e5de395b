#pragma once
#include <distribute/base/process_state.hpp>
#include <distribute/device/detail/cuda_memory.hpp>
#include <distribute/device/detail/cuda_module.hpp>
#include <distribute/device/detail/device_state.hpp>
#include <distribute/device/detail/kernel_arguments.hpp>
#include <distribute/tensor/detail/tensor_hints.hpp>
#include <distribute/tensor/detail/unrecorded.hpp>
#include <distribute/tensor/tensor.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

namespace distribute {

namespace device_internal {
void refuse_while_recording(Device gpu, int64_t bytes, const char* what);  // cuda_memory.ipp
}

/// The data that handles share. Only copies are added later, each once: a row-major one of a block
/// with a layout, and one in host memory of a block on a GPU.
struct TensorIds {
  std::atomic<uint64_t> next{1};
};

struct TensorImpl {
  TensorImpl(const Shape& s, DType t, Array a) : shape(s), dtype(t), array(std::move(a)) {}
  const Shape shape;
  const DType dtype;
  const Array array;
  const uint64_t id = in_process<TensorIds>().next.fetch_add(1, std::memory_order_relaxed);
  TensorHints hints;
  std::once_flag plain_once;
  Array plain;
  std::once_flag host_once;
  Array host;  // copy in host memory of a tensor on a GPU
};

namespace tensor_internal {

/// Rows of a larger tensor. Values of a row that occurs twice are added.
class IndexedRows final : public Layout {
 public:
  IndexedRows(Tensor indices, const Shape& dense, DType dtype)
      : indices_(std::move(indices)), dense_shape_(dense), dtype_(dtype) {}
  const Tensor& indices() const { return indices_; }
  const Shape& dense_shape() const { return dense_shape_; }
  int64_t row_elements() const { return dense_shape_.with(0, 1).num_elements(); }

  int64_t bytes() const override {
    return indices_.num_elements() * row_elements() * size_of(dtype_);
  }
  bool equals(const Layout& other) const override { return this == &other; }
  bool dense() const override { return false; }
  bool holds_elements() const override { return false; }
  std::string name() const override { return "indexed_rows"; }
  DISTRIBUTE_INLINE void to_row_major(const void* from, void* to) const override;
  void from_row_major(const void*, void*) const override {
    throw UnimplementedError("a dense tensor cannot become IndexedSlices");
  }

 private:
  Tensor indices_;
  Shape dense_shape_;
  DType dtype_;
};

DISTRIBUTE_INLINE void IndexedRows::to_row_major(const void* from, void* to) const {
  const auto rows = indices_.data<int64_t>();
  const int64_t width = row_elements();
  dispatch(dtype_, [&](auto type) {
    using T = decltype(type);
    const T* source = static_cast<const T*>(from);
    T* target = static_cast<T*>(to);
    std::fill_n(target, dense_shape_.num_elements(), T{});
    for (size_t i = 0; i < rows.size(); ++i)
      for (int64_t j = 0; j < width; ++j) {
        T& sum = target[rows[i] * width + j];
        sum = T(sum + source[int64_t(i) * width + j]);
      }
  });
}

/// A single number stays on the host, whatever device the scope selects, because it becomes an
/// argument of kernels.
DISTRIBUTE_INLINE Device host_of() {
  const Device device = current_device();
  return is_gpu(device) ? Device{} : device;
}

DISTRIBUTE_INLINE bool on_gpu(const Tensor& t) { return is_gpu(t.device()); }

inline constexpr char kRowsText[] =
#include <distribute/device/kernels/combine.cu.inc>
    ;

/// Computes the dense sum of rows on a GPU.
DISTRIBUTE_INLINE void scatter_gpu_rows(const IndexedRows& rows, TensorImpl& shared) {
  const Device device = shared.array.buffer->device();
  const int64_t width = rows.row_elements(), count = rows.dense_shape().num_elements();
  fill_elements(shared.plain.bytes(), device, size_of(shared.dtype), 0, count);
  if (rows.indices().num_elements() == 0 || width == 0) return;
  const kernels::GatherArguments arguments{shared.array.bytes(),
                                           rows.indices().array().data<int64_t>(),
                                           shared.plain.bytes(),
                                           1,
                                           rows.dense_shape()[0],
                                           width,
                                           rows.indices().num_elements(),
                                           0,
                                           0};
  launch_kernel(device, {kRowsText, "scatter_add", {}, {}, {shared.dtype, DType::Int64}},
                launch_for(width), arguments);
}

/// Fills `plain` for a block with a layout on a GPU. Layouts other than IndexedRows are converted
/// on the host.
DISTRIBUTE_INLINE void unlay_gpu(TensorImpl& shared) {
  const Device device = shared.array.buffer->device();
  if (const auto* rows = dynamic_cast<const IndexedRows*>(shared.array.layout.get()))
    return scatter_gpu_rows(*rows, shared);
  const int64_t bytes = shared.array.layout->bytes();
  const int64_t plain_bytes = shared.shape.num_elements() * size_of(shared.dtype);
  const Array laid = make_array(bytes, Device{}), plain = make_array(plain_bytes, Device{});
  copy_bytes(laid.bytes(), Device{}, shared.array.bytes(), device, bytes);
  shared.array.layout->to_row_major(laid.bytes(), plain.bytes());
  copy_bytes(shared.plain.bytes(), device, plain.bytes(), Device{}, plain_bytes);
}

DISTRIBUTE_INLINE void print(const Tensor& t, int axis, int64_t offset, std::string& text) {
  if (axis == t.shape().rank()) {
    dispatch(t.dtype(), [&](auto type) {
      using T = decltype(type);
      const T value = t.data<T>()[size_t(offset)];
      if constexpr (std::is_same_v<T, bool>)
        text += value ? "true" : "false";
      else
        text += str_cat(+value);
    });
    return;
  }
  const int64_t size = t.shape()[axis];
  int64_t step = 1;
  for (int i = axis + 1; i < t.shape().rank(); ++i) step *= t.shape()[i];
  text += "[";
  for (int64_t i = 0; i < size; ++i) {
    if (i) text += ", ";
    if (size > 6 && i == 3) {
      text += "..., ";
      i = size - 3;
    }
    print(t, axis + 1, offset + i * step, text);
  }
  text += "]";
}

}  // namespace tensor_internal

DISTRIBUTE_INLINE void tensor_internal::NestedShape::add(size_t depth, size_t size) {
  if (depth == sizes_.size()) sizes_.push_back(int64_t(size));
  if (sizes_[depth] != int64_t(size))
    throw InvalidArgumentError(str_cat("the lists of a tensor have different lengths, ",
                                       sizes_[depth], " and ", size,
                                       "; Tensor(Shape{...}, values) takes values in one list"));
}

DISTRIBUTE_INLINE Tensor::Tensor(const Shape& shape, DType dtype, Array array)
    : impl_(std::make_shared<TensorImpl>(shape, dtype, std::move(array))) {}

DISTRIBUTE_INLINE Tensor::Tensor(const Shape& shape, DType dtype, const void* values, int64_t count)
    : Tensor(empty(shape, dtype, shape.rank() ? current_device() : tensor_internal::host_of())) {
  if (count != shape.num_elements())
    throw InvalidArgumentError(str_cat("a tensor of shape ", to_string(shape), " has ",
                                       shape.num_elements(), " elements, got ", count, " values"));
  copy_bytes(impl_->array.bytes(), device(), values, Device{}, count * size_of(dtype));
  if (device_state().log_device_placement) device_internal::log_placement("_EagerConst", device());
}

DISTRIBUTE_INLINE Tensor Tensor::empty(const Shape& shape, DType dtype, Device device,
                                       LayoutPtr layout) {
  const int64_t bytes = shape.num_elements() * size_of(dtype);
  return Tensor(shape, dtype, make_array(bytes, device, std::move(layout)));
}

DISTRIBUTE_INLINE const TensorImpl& Tensor::impl() const {
  if (!impl_) throw InvalidArgumentError("an empty tensor (none) was used as a value");
  return *impl_;
}

DISTRIBUTE_INLINE const Shape& Tensor::shape() const { return impl().shape; }
DISTRIBUTE_INLINE DType Tensor::dtype() const { return impl().dtype; }
DISTRIBUTE_INLINE Device Tensor::device() const { return impl().array.buffer->device(); }
DISTRIBUTE_INLINE uint64_t Tensor::id() const { return impl().id; }
DISTRIBUTE_INLINE const Array& Tensor::array() const { return impl().array; }

DISTRIBUTE_INLINE const TensorHints& TensorHints::of(const Tensor& tensor) {
  return tensor.impl().hints;
}
DISTRIBUTE_INLINE TensorHints& TensorHints::of(Tensor& tensor) {
  (void)tensor.impl();  // throws for an empty tensor
  return tensor.impl_->hints;
}

DISTRIBUTE_INLINE Tensor Tensor::row_major() const {
  if (!layout()) return *this;
  TensorImpl& shared = *impl_;
  std::call_once(shared.plain_once, [&] {
    shared.plain = make_array(shared.shape.num_elements() * size_of(shared.dtype), device());
    if (tensor_internal::on_gpu(*this)) return tensor_internal::unlay_gpu(shared);
    shared.array.layout->to_row_major(shared.array.bytes(), shared.plain.bytes());
  });
  return Tensor(shape(), dtype(), shared.plain);
}

DISTRIBUTE_INLINE const void* Tensor::raw_data(DType wanted) const {
  if (dtype() != wanted)
    throw InvalidArgumentError(
        str_cat("the tensor holds ", name_of(dtype()), ", not ", name_of(wanted)));
  return array().bytes();
}

DISTRIBUTE_INLINE void* Tensor::writable_data(DType wanted) const {
  if (tensor_internal::on_gpu(*this))
    throw InternalError(str_cat("a loop of the host writes to ", to_string(device())));
  return const_cast<void*>(raw_data(wanted));
}

DISTRIBUTE_INLINE const void* Tensor::checked_data(DType wanted) const {
  const void* data = raw_data(wanted);
  if (tensor_internal::on_gpu(*this)) {
    const Array& device_array = row_major().array();
    const int64_t bytes = num_elements() * size_of(dtype());
    // A value read earlier may differ when the recorded step is launched.
    device_internal::refuse_while_recording(device(), bytes, "read from ");
    std::call_once(impl_->host_once, [&] {
      impl_->host = make_array(bytes, Device{});
      copy_bytes(impl_->host.bytes(), Device{}, device_array.bytes(), device(), bytes);
    });
    return impl_->host.bytes();
  }
  if (!layout()) return data;
  row_major();  // fills the shared copy, which lives as long as this tensor
  return impl_->plain.bytes();
}

DISTRIBUTE_INLINE void Tensor::check_single() const {
  if (num_elements() != 1)
    throw InvalidArgumentError(
        str_cat("item: the tensor has shape ", to_string(shape()), ", not one element"));
}

DISTRIBUTE_INLINE std::vector<float> Tensor::to_vector() const {
  return dispatch(dtype(), [&](auto type) {
    const auto values = data<decltype(type)>();
    return std::vector<float>(values.begin(), values.end());
  });
}

namespace tensor_internal {

DISTRIBUTE_INLINE Tensor rows_as_tensor(const IndexedSlices& slices) {
  Array rows = slices.values.row_major().array();
  rows.layout =
      std::make_shared<IndexedRows>(slices.indices, slices.dense_shape, slices.values.dtype());
  return Tensor(slices.dense_shape, slices.values.dtype(), std::move(rows));
}

DISTRIBUTE_INLINE Tensor copied_to(const Tensor& x, Device target) {
  if (x.device() == target) return x;
  if (is_indexed_slices(x)) {
    const IndexedSlices slices = indexed_slices(x);
    return rows_as_tensor(
        {copied_to(slices.values, target), copied_to(slices.indices, target), slices.dense_shape});
  }
  // A GPU cannot read the layouts of the CPU's backend.
  const bool same_kind = x.device().type == target.type;
  const Tensor from = same_kind ? x : x.row_major();
  Tensor copy = Tensor::empty(x.shape(), x.dtype(), target, from.layout());
  const int64_t bytes =
      from.layout() ? from.layout()->bytes() : x.num_elements() * size_of(x.dtype());
  copy_bytes(copy.array().bytes(), target, from.array().bytes(), x.device(), bytes);
  return copy;
}

DISTRIBUTE_INLINE Tensor viewed(const Tensor& x, const Shape& target) {
  if (target.num_elements() != x.num_elements())
    throw InvalidArgumentError(str_cat("reshape: ", to_string(x.shape()), " has ", x.num_elements(),
                                       " elements, ", to_string(target), " has ",
                                       target.num_elements()));
  return Tensor(target, x.dtype(), x.row_major().array());
}

DISTRIBUTE_INLINE Tensor rows_of(const Tensor& x, int64_t begin, int64_t end) {
  const Shape& shape = x.shape();
  if (shape.rank() == 0 || begin < 0 || end < begin || end > shape[0])
    throw InvalidArgumentError(
        str_cat("rows [", begin, ", ", end, ") do not exist in shape ", to_string(shape)));
  Array part = x.row_major().array();
  part.offset_bytes += begin * shape.with(0, 1).num_elements() * size_of(x.dtype());
  return Tensor(shape.with(0, end - begin), x.dtype(), std::move(part));
}

}  // namespace tensor_internal

DISTRIBUTE_INLINE bool Tensor::unique() const {
  const auto& buffer = impl_->array.buffer;
  if (impl_.use_count() != 1 || buffer.use_count() != 1 || !buffer->writable()) return false;
  // Incrementing and decrementing the counters orders reads by another thread, which has dropped
  // its handle, before the writes that follow.
  (void)std::shared_ptr<const void>(impl_), (void)std::shared_ptr<const void>(buffer);
  return true;
}

DISTRIBUTE_INLINE Tensor Tensor::renamed() const { return Tensor(shape(), dtype(), array()); }

DISTRIBUTE_INLINE std::string to_string(const Tensor& tensor) {
  if (!tensor) return "Tensor(none)";
  std::string text = str_cat("Tensor(", to_string(tensor.shape()), ", ", name_of(tensor.dtype()),
                             ", ", to_string(tensor.device()), ") ");
  tensor_internal::print(tensor, 0, 0, text);
  return text;
}

DISTRIBUTE_INLINE std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  return out << to_string(tensor);
}

DISTRIBUTE_INLINE Tensor fill(const Shape& shape, double value, DType dtype, Device device) {
  Tensor result = Tensor::empty(shape, dtype, device);
  dispatch(dtype, [&](auto type) {
    using T = decltype(type);
    if (is_gpu(device)) {
      uint64_t pattern = 0;
      const T element = T(value);
      std::memcpy(&pattern, &element, sizeof element);
      return fill_elements(result.array().bytes(), device, int64_t(sizeof element), pattern,
                           shape.num_elements());
    }
    std::fill_n(result.mutable_data<T>(), shape.num_elements(), T(value));
  });
  return result;
}

DISTRIBUTE_INLINE Tensor zeros(const Shape& shape, DType dtype) { return fill(shape, 0, dtype); }
DISTRIBUTE_INLINE Tensor ones(const Shape& shape, DType dtype) { return fill(shape, 1, dtype); }

DISTRIBUTE_INLINE Tensor zeros_like(const Tensor& tensor) {
  return fill(tensor.shape(), 0, tensor.dtype(), tensor.device());
}
DISTRIBUTE_INLINE Tensor ones_like(const Tensor& tensor) {
  return fill(tensor.shape(), 1, tensor.dtype(), tensor.device());
}

DISTRIBUTE_INLINE bool is_indexed_slices(const Tensor& tensor) {
  return dynamic_cast<const tensor_internal::IndexedRows*>(tensor.layout().get()) != nullptr;
}

DISTRIBUTE_INLINE IndexedSlices indexed_slices(const Tensor& tensor) {
  const auto* rows = dynamic_cast<const tensor_internal::IndexedRows*>(tensor.layout().get());
  if (!rows) throw InvalidArgumentError("indexed_slices: the tensor is dense");
  Array values = tensor.array();
  values.layout = nullptr;
  const Shape shape = tensor.shape().with(0, rows->indices().num_elements());
  return {Tensor(shape, tensor.dtype(), std::move(values)), rows->indices(), rows->dense_shape()};
}

}  // namespace distribute
