#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/device/detail/cuda_memory.hpp>
#include <distribute/device/detail/cuda_module.hpp>
#include <distribute/device/detail/kernel_arguments.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/ops/detail/strided_copy.hpp>
#include <distribute/tensor/detail/unrecorded.hpp>

#include <algorithm>
#include <cstring>

namespace distribute {

namespace ops_internal {

inline constexpr char kElementwiseText[] =
#include <distribute/device/kernels/elementwise.cu.inc>
    ;
inline constexpr char kBroadcastText[] =
#include <distribute/device/kernels/broadcast.cu.inc>
    ;
inline constexpr char kConvertText[] =
#include <distribute/device/kernels/copy.cu.inc>
    ;
inline constexpr char kStridedText[] =
#include <distribute/device/kernels/strided.cu.inc>
    ;
inline constexpr char kReduceText[] =
#include <distribute/device/kernels/reduce.cu.inc>
    ;

DISTRIBUTE_INLINE Device device_of(std::initializer_list<Tensor> operands) {
  Device device = operands.begin()->device();
  for (const Tensor& t : operands)
    if (on_gpu(t) && device.type == DeviceType::Cpu) device = t.device();
  return device;
}

DISTRIBUTE_INLINE bool lie_apart(const Tensor& a, const Tensor& b) {
  return a.device() != b.device() && (on_gpu(a) || on_gpu(b));
}

DISTRIBUTE_INLINE Tensor brought_to(const Tensor& t, Device device) {
  if (!t) return t;
  return tensor_internal::copied_to(t, device).row_major();
}

DISTRIBUTE_INLINE Tensor carried_to(const Tensor& t, Device device) {
  if (!t || t.device() == device) return t;
  return record("copy", {t}, brought_to(t, device),
                [from = t.device()](const Backward& b) -> std::vector<Tensor> {
                  return {carried_to(b.gradient(), from)};
                });
}

/// Gives the bits of a tensor of one number on the host, widened to the type in which kernels
/// compute.
DISTRIBUTE_INLINE int64_t computed_bits(const Tensor& t) {
  if (!is_floating(t.dtype())) return t.item<int64_t>();
  const float value = t.item<float>();
  int32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

DISTRIBUTE_INLINE bool is_host_number(const Tensor& t) {
  return !on_gpu(t) && t.num_elements() == 1;
}

DISTRIBUTE_INLINE kernels::Axes kernel_axes(const std::vector<CopyAxis>& axes) {
  kernels::Axes result{};
  result.count = int32_t(axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    result.size[i] = axes[i].size;
    result.from[i] = axes[i].from_step;
    result.to[i] = axes[i].to_step;
  }
  return result;
}

DISTRIBUTE_INLINE DType mover(int64_t bytes) {
  return bytes == 1   ? DType::UInt8
         : bytes == 2 ? DType::BFloat16
         : bytes == 4 ? DType::Int32
                      : DType::Int64;
}

DISTRIBUTE_INLINE Tensor gpu_map_with(const char* function, const Tensor& a, const Tensor& b,
                                      const GpuRow& row, const void* fn) {
  const Tensor y = Tensor::empty(a.shape(), a.dtype(), a.device());
  if (y.num_elements() == 0) return y;
  kernels::MapArguments arguments{
      a.array().bytes(), b ? b.array().bytes() : nullptr, y.array().bytes(), a.num_elements(), {}};
  std::memcpy(arguments.row, fn, size_t(row.numbers) * sizeof(float));
  launch_kernel(a.device(), {kElementwiseText, function, row.rows, row.name, {a.dtype()}},
                launch_for(a.num_elements(), 4), arguments);
  return y;
}

DISTRIBUTE_INLINE Tensor gpu_map(const Tensor& x, const GpuRow& row, const void* fn) {
  return gpu_map_with("map_value", x.row_major(), {}, row, fn);
}
DISTRIBUTE_INLINE Tensor gpu_slope(const Tensor& dy, const Tensor& at, const GpuRow& row,
                                   const void* fn, int order) {
  const Device device = device_of({dy, at});
  return gpu_map_with(order == 1 ? "map_slope" : "map_curve", brought_to(dy, device),
                      brought_to(at, device), row, fn);
}

DISTRIBUTE_INLINE Tensor gpu_broadcast(const Tensor& a, const Tensor& b, const Shape& shape,
                                       DType out_type, const GpuRow& row, Device device) {
  const Tensor y = Tensor::empty(shape, out_type, device);
  if (y.num_elements() == 0) return y;
  std::vector<CopyAxis> axes;
  for (const BroadcastAxis& axis : broadcast_axes(shape, a.shape(), b.shape()))
    axes.push_back({axis.size, axis.a, axis.b});
  kernels::BroadcastArguments arguments{
      nullptr, nullptr, y.array().bytes(), y.num_elements(), kernel_axes(axes), 0, 0};
  Tensor operands[2];
  const auto take = [&](const Tensor& t, Tensor& kept, const void*& pointer, int64_t& bits) {
    if (is_host_number(t)) {
      bits = computed_bits(t);
    } else {
      kept = brought_to(t, device);
      pointer = kept.array().bytes();
    }
  };
  take(a, operands[0], arguments.a, arguments.a_bits);
  take(b, operands[1], arguments.b, arguments.b_bits);
  launch_kernel(device, {kBroadcastText, "broadcast", row.rows, row.name, {a.dtype(), out_type}},
                launch_for(y.num_elements(), 4), arguments);
  return y;
}

DISTRIBUTE_INLINE Tensor gpu_convert(const Tensor& x, DType dtype) {
  const Tensor from = x.row_major(), y = Tensor::empty(x.shape(), dtype, x.device());
  if (y.num_elements() == 0) return y;
  const kernels::MapArguments arguments{
      from.array().bytes(), nullptr, y.array().bytes(), x.num_elements(), {}};
  launch_kernel(x.device(), {kConvertText, "convert", {}, {}, {x.dtype(), dtype}},
                launch_for(x.num_elements(), 4), arguments);
  return y;
}

DISTRIBUTE_INLINE Tensor gpu_select(const Tensor& condition, const Tensor& a, const Tensor& b) {
  const Tensor y = Tensor::empty(a.shape(), a.dtype(), a.device());
  if (y.num_elements() == 0) return y;
  const kernels::SelectArguments arguments{condition.array().data<bool>(), a.array().bytes(),
                                           b.array().bytes(), y.array().bytes(), a.num_elements()};
  launch_kernel(a.device(), {kStridedText, "select", {}, {}, {mover(size_of(a.dtype()))}},
                launch_for(a.num_elements(), 4), arguments);
  return y;
}

DISTRIBUTE_INLINE void gpu_strided_copy(Device device, const std::vector<CopyAxis>& axes,
                                        const char* from, char* to, int64_t element_bytes) {
  int64_t count = 1;
  for (const CopyAxis& axis : axes) count *= axis.size;
  const kernels::CopyArguments arguments{from, to, count, kernel_axes(axes)};
  launch_kernel(device, {kStridedText, "strided_copy", {}, {}, {mover(element_bytes)}},
                launch_for(count, 4), arguments);
}

DISTRIBUTE_INLINE Tensor gpu_expand(const Tensor& x, const Shape& shape, Device device) {
  if (x.shape() == shape && !is_host_number(x)) return brought_to(x, device);
  const Tensor y = Tensor::empty(shape, x.dtype(), device);
  const int64_t bytes = size_of(x.dtype());
  if (is_host_number(x)) {
    uint64_t pattern = 0;
    std::memcpy(&pattern, x.row_major().array().bytes(), size_t(bytes));
    fill_elements(y.array().bytes(), device, bytes, pattern, y.num_elements());
    return y;
  }
  if (y.num_elements() == 0) return y;
  const Tensor from = brought_to(x, device);
  std::vector<CopyAxis> axes;
  for (const BroadcastAxis& axis : broadcast_axes(shape, x.shape(), shape))
    axes.push_back({axis.size, axis.a, axis.b});
  gpu_strided_copy(device, axes, from.array().bytes(), y.array().bytes(), bytes);
  return y;
}

/// The number of columns for a thread of reduce_columns.
DISTRIBUTE_INLINE int64_t columns_together(DType dtype, int64_t inner) {
  const int64_t most = std::min<int64_t>(16 / size_of(dtype), is_floating(dtype) ? 8 : 4);
  return inner % most ? 1 : most;
}

/// Makes one pass over [outer, count, inner]. The pieces depend on shape and type alone.
DISTRIBUTE_INLINE Tensor gpu_reduce_pass(const Tensor& x, int64_t outer, int64_t count,
                                         int64_t inner, const GpuRow& row, int64_t& chunks) {
  const int64_t pieces = inner == 1 ? 4096 : 65536;  // blocks, threads: enough to fill a GPU
  const int64_t least = inner == 1 ? 2048 : 64, together = columns_together(x.dtype(), inner);
  const int64_t lines = std::max<int64_t>(outer * inner / together, 1);
  const int64_t wanted = std::max<int64_t>(pieces / lines, 1);
  const int64_t rows = std::max<int64_t>((count + wanted - 1) / wanted, least);
  chunks = std::max<int64_t>((count + rows - 1) / rows, 1);
  const DType computed = is_floating(x.dtype()) ? DType::Float32 : DType::Int64;
  const Tensor y = Tensor::empty({outer * chunks * inner}, computed, x.device());
  if (y.num_elements() == 0) return y;
  const kernels::ReduceArguments arguments{
      x.array().bytes(), y.array().bytes(), outer, count, inner, chunks, rows};
  LaunchShape launch = launch_for(y.num_elements(), together);
  if (inner == 1) launch.grid_x = unsigned(std::min<int64_t>(outer * chunks, 65535));
  launch_kernel(x.device(),
                {kReduceText,
                 inner == 1 ? "reduce_lines" : "reduce_columns",
                 row.rows,
                 row.name,
                 {x.dtype()}},
                launch, arguments);
  return y;
}

DISTRIBUTE_INLINE Tensor gpu_reduce(const Tensor& input, const std::vector<bool>& reduced,
                                    const GpuRow& row) {
  Tensor x = input.row_major();
  for (int last = x.shape().rank() - 1; last >= 0; --last) {
    if (!reduced[size_t(last)]) continue;
    int first = last;
    while (first > 0 && reduced[size_t(first - 1)]) --first;
    Shape shape = x.shape();
    int64_t outer = 1, count = 1, inner = 1, chunks = 0;
    for (int i = 0; i < shape.rank(); ++i)
      (i < first ? outer : i <= last ? count : inner) *= shape[i];
    for (int i = first; i <= last; ++i) shape = shape.with(i, 1);
    Tensor y = gpu_reduce_pass(x, outer, count, inner, row, chunks);
    while (chunks > 1) {
      count = chunks;
      y = gpu_reduce_pass(y, outer, count, inner, row, chunks);
    }
    x = tensor_internal::viewed(y, shape);
    last = first;
  }
  const DType computed = is_floating(input.dtype()) ? DType::Float32 : DType::Int64;
  return x.dtype() == computed ? x : gpu_convert(x, computed);
}

}  // namespace ops_internal

DISTRIBUTE_INLINE Tensor Tensor::to(Device target) const {
  if (device() == target) return *this;
  return record("copy", {*this}, tensor_internal::copied_to(*this, target),
                [from = device()](const Backward& b) -> std::vector<Tensor> {
                  return {b.gradient().to(from)};
                });
}

}  // namespace distribute
