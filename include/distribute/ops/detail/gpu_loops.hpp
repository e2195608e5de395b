#pragma once
/// The launches behind elementwise operations, copies and reductions where operands are on a GPU.

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

/// An axis of the result and the steps both operands make along it.
struct BroadcastAxis {
  int64_t size, a, b;
};
/// The axes of `out` with neighbours merged where both operands allow; at least one axis.
std::vector<BroadcastAxis> broadcast_axes(const Shape& out, const Shape& a, const Shape& b);

/// A row of formulas as kernel text knows it: its text, its name, how many floats it holds.
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
/// The integer type that moves an element of `bytes` bytes.
DType mover(int64_t bytes);
/// Where an operation runs: on the first operand's device, or on that of a later one that is on a
/// GPU while those before it are the host's.
Device device_of(std::initializer_list<Tensor> operands);
/// Different devices, one of them a GPU: logical CPU devices read each other's memory.
bool lie_apart(const Tensor& a, const Tensor& b);
/// The row-major tensor on `device`; not recorded. None stays none.
Tensor brought_to(const Tensor& t, Device device);
/// The tensor on `device`, recorded: its gradient goes back to where it came from.
Tensor carried_to(const Tensor& t, Device device);
/// x repeated to `shape` on a GPU.
Tensor gpu_expand(const Tensor& x, const Shape& shape, Device device);

/// fn(x), dy times the slope (order 1) or curvature (order 2) of `row` at `at`.
Tensor gpu_map(const Tensor& x, const GpuRow& row, const void* fn);
Tensor gpu_slope(const Tensor& dy, const Tensor& at, const GpuRow& row, const void* fn, int order);
/// Operands of one dtype; the result in `out_type`.
Tensor gpu_broadcast(const Tensor& a, const Tensor& b, const Shape& shape, DType out_type,
                     const GpuRow& row, Device device);
Tensor gpu_convert(const Tensor& x, DType dtype);
/// a where condition holds, else b; all of one shape and on one GPU.
Tensor gpu_select(const Tensor& condition, const Tensor& a, const Tensor& b);
void gpu_strided_copy(Device device, const std::vector<CopyAxis>& axes, const char* from, char* to,
                      int64_t element_bytes);
/// Over the marked axes, which stay with size 1; the result is float32 or int64.
Tensor gpu_reduce(const Tensor& x, const std::vector<bool>& reduced, const GpuRow& row);

}  // namespace distribute::ops_internal
