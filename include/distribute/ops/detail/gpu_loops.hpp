#pragma once
/// Launches kernels for elementwise operations, copies and reductions of operands on a GPU.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/kernel_text.hpp>
#include <distribute/ops/detail/binary_rows.hpp>
#include <distribute/ops/detail/unary_rows.hpp>
#include <distribute/tensor/tensor.hpp>

#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <vector>

namespace distribute::ops_internal {

struct CopyAxis;  // strided_copy.hpp, whose bodies need this header

/// An axis of the result, and the steps that both operands make along it.
struct BroadcastAxis {
  int64_t size, a, b;
};
/// Gives the axes of `out`, with neighbouring axes merged if both operands allow it; at least one
/// axis.
std::vector<BroadcastAxis> broadcast_axes(const Shape& out, const Shape& a, const Shape& b);

/// A row of formulas for kernel text: its text, its name, and its number of floats.
struct GpuRow {
  std::string_view rows = {}, name = {};
  int numbers = 0;
};

template <typename F>
constexpr GpuRow unary_row() {
  static_assert(std::is_trivially_copyable_v<F> && sizeof(F) <= 16, "a row is up to four floats");
  return {{kUnaryRows, sizeof kUnaryRows - 1},
          device_internal::unqualified_name<F>(),
          std::is_empty_v<F> ? 0 : int(sizeof(F) / sizeof(float))};
}
template <typename F>
constexpr GpuRow binary_row() {
  return {{kBinaryRows, sizeof kBinaryRows - 1}, device_internal::unqualified_name<F>(), 0};
}

inline bool on_gpu(const Tensor& t) { return t && is_gpu(t.device()); }
/// The integer type that copies an element of `bytes` bytes.
DType mover(int64_t bytes);
/// The device on which an operation runs: the first operand's, or that of a later operand on a GPU
/// if those before it are on the host.
Device device_of(std::initializer_list<Tensor> operands);
/// Whether the tensors are on different devices of which one is a GPU. Logical CPU devices can read
/// each other's memory.
bool lie_apart(const Tensor& a, const Tensor& b);
/// Gives a row-major tensor on `device`; no tape follows it. An empty tensor stays empty.
Tensor brought_to(const Tensor& t, Device device);
/// Gives the tensor on `device`. Tapes follow it: its gradient is copied back to the device that
/// the tensor came from.
Tensor carried_to(const Tensor& t, Device device);
/// Repeats x to `shape` on a GPU.
Tensor gpu_expand(const Tensor& x, const Shape& shape, Device device);

/// Gives fn(x); dy times the slope (order 1) or curvature (order 2) of `row` at `at`.
Tensor gpu_map(const Tensor& x, const GpuRow& row, const void* fn);
Tensor gpu_slope(const Tensor& dy, const Tensor& at, const GpuRow& row, const void* fn, int order);
/// Applies a binary row to operands of one dtype; the result is in `out_type`.
Tensor gpu_broadcast(const Tensor& a, const Tensor& b, const Shape& shape, DType out_type,
                     const GpuRow& row, Device device);
Tensor gpu_convert(const Tensor& x, DType dtype);
/// Gives a where condition holds, else b; all have one shape and are on one GPU.
Tensor gpu_select(const Tensor& condition, const Tensor& a, const Tensor& b);
void gpu_strided_copy(Device device, const std::vector<CopyAxis>& axes, const char* from, char* to,
                      int64_t element_bytes);
/// Reduces over the marked axes, which stay with size 1; the result is float32 or int64.
Tensor gpu_reduce(const Tensor& x, const std::vector<bool>& reduced, const GpuRow& row);

}  // namespace distribute::ops_internal
