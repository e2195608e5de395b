#pragma once
#include <distribute/base/error.hpp>
#include <distribute/device/detail/cuda_device.hpp>
#include <distribute/device/detail/cuda_memory.hpp>
#include <distribute/device/detail/cuda_stream.hpp>
#include <distribute/tensor/dlpack.hpp>

#include <array>
#include <memory>
#include <vector>

namespace distribute::experimental::dlpack {

namespace dlpack_internal {

inline constexpr int32_t kHost = 1, kCuda = 2, kPinnedHost = 3;

struct Kind {
  DType dtype;
  uint8_t code, bits;
};
inline constexpr std::array<Kind, 7> kKinds{{{DType::Float32, 2, 32},
                                             {DType::BFloat16, 4, 16},
                                             {DType::Float16, 2, 16},
                                             {DType::Int32, 0, 32},
                                             {DType::Int64, 0, 64},
                                             {DType::UInt8, 1, 8},
                                             {DType::Bool, 6, 8}}};

/// Keeps a tensor alive that another library reads.
struct Exported {
  Tensor tensor;
  std::vector<int64_t> shape;
  DLManagedTensor managed;
};

DISTRIBUTE_INLINE DType dtype_of(const DLDataType& type) {
  for (const Kind& kind : kKinds)
    if (kind.code == type.code && kind.bits == type.bits && type.lanes == 1) return kind.dtype;
  throw InvalidArgumentError(str_cat("from_dlpack: no dtype for elements of kind ", int(type.code),
                                     " with ", int(type.bits), " bits and ", type.lanes, " lanes"));
}

DISTRIBUTE_INLINE Shape shape_of(const DLTensor& t) {
  const Shape shape(std::span<const int64_t>(t.shape, size_t(t.ndim)));
  int64_t step = 1;
  for (int axis = t.ndim - 1; t.strides && axis >= 0; --axis) {
    if (t.shape[axis] != 1 && t.strides[axis] != step && shape.num_elements() > 0)
      throw InvalidArgumentError(
          str_cat("from_dlpack: the strides of ", to_string(shape),
                  " are not those of row-major elements without gaps; make it contiguous first"));
    step *= t.shape[axis];
  }
  return shape;
}

/// Gives the first logical GPU with the driver's number.
DISTRIBUTE_INLINE Device device_of(const DLDevice& device) {
  if (device.device_type == kHost || device.device_type == kPinnedHost) return {};
  for (size_t i = 0; device.device_type == kCuda && i < logical_gpus().size(); ++i)
    if (const Device gpu{DeviceType::Gpu, int(i)}; gpu_info(gpu).number == device.device_id)
      return gpu;
  throw InvalidArgumentError(str_cat("from_dlpack: this process has no device of type ",
                                     device.device_type, " and number ", device.device_id));
}

/// Calls the deleter once; without a deleter nothing has to be given back.
DISTRIBUTE_INLINE void give_back(DLManagedTensor* managed) {
  if (managed->deleter) managed->deleter(managed);
}

}  // namespace dlpack_internal

DISTRIBUTE_INLINE DLManagedTensor* to_dlpack(const Tensor& tensor) {
  using namespace dlpack_internal;
  if (!tensor) throw InvalidArgumentError("to_dlpack: there is no tensor");
  auto exported = std::make_unique<Exported>();
  exported->tensor = tensor.row_major();
  const Tensor& t = exported->tensor;
  exported->shape.assign(t.shape().begin(), t.shape().end());
  DLTensor& out = exported->managed.dl_tensor;
  out.data = t.array().bytes();
  if (is_gpu(t.device())) {
    current_stream(t.device()).synchronize();
    out.device = {kCuda, gpu_info(t.device()).number};
  }
  for (const Kind& kind : kKinds)
    if (kind.dtype == t.dtype()) out.dtype = {kind.code, kind.bits, 1};
  out.ndim = int32_t(exported->shape.size());
  out.shape = exported->shape.data();
  exported->managed.manager_ctx = exported.get();
  exported->managed.deleter = [](DLManagedTensor* managed) {
    delete static_cast<Exported*>(managed->manager_ctx);
  };
  return &exported.release()->managed;
}

DISTRIBUTE_INLINE Tensor from_dlpack(DLManagedTensor* managed) {
  using namespace dlpack_internal;
  if (!managed) throw InvalidArgumentError("from_dlpack: there is no tensor");
  const DLTensor& t = managed->dl_tensor;
  const DType dtype = dtype_of(t.dtype);
  const Shape shape = shape_of(t);
  const Device device = device_of(t.device);
  char* const data = static_cast<char*>(t.data) + t.byte_offset;
  const int64_t bytes = shape.num_elements() * size_of(dtype);
  if (!is_gpu(device) && (reinterpret_cast<uintptr_t>(data) % 64 != 0 || bytes == 0)) {
    const Tensor copy = Tensor::empty(shape, dtype);
    copy_bytes(copy.array().bytes(), device, data, device, bytes);
    give_back(managed);
    return copy;
  }
  const auto release = [managed, device] {
    if (is_gpu(device)) current_stream(device).synchronize();
    give_back(managed);
  };
  return Tensor(shape, dtype,
                Array{std::make_shared<Buffer>(data, bytes, device, release, false), 0, nullptr});
}

}  // namespace distribute::experimental::dlpack
