#pragma once
/// Tensors of other libraries without a copy, and ours for them, in the form of DLPack.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>

namespace distribute::experimental::dlpack {

// The structures of dlpack.h (version 0.6 to 0.8, before "versioned" ones), whose binary interface
// is what libraries agree on: a pointer of theirs may be cast to one of these.

/// A device of DLPack; its type is 1 for host memory, 2 for CUDA memory, 3 for page-locked host
/// memory.
struct DLDevice {
  int32_t device_type = 1;
  int32_t device_id = 0;  // the driver's number of a GPU
};

/// Kinds 0: int, 1: unsigned, 2: float, 4: bfloat16, 6: bool.
struct DLDataType {
  uint8_t code = 2;
  uint8_t bits = 32;
  uint16_t lanes = 1;
};

/// An array of DLPack 0.8.
struct DLTensor {
  void* data = nullptr;
  DLDevice device = {};
  int32_t ndim = 0;
  DLDataType dtype = {};
  int64_t* shape = nullptr;
  int64_t* strides = nullptr;  // in elements; null: row-major without gaps
  uint64_t byte_offset = 0;
};

/// The consumer calls `deleter` once, when it is done with it.
struct DLManagedTensor {
  DLTensor dl_tensor = {};
  void* manager_ctx = nullptr;
  void (*deleter)(DLManagedTensor*) = nullptr;
};

/// Lends the tensor's own memory until the deleter is called. The consumer may only read it.
/// Blocks  until a GPU's tensor is computed, so that the reader's stream need not wait.
/// Source  tf.experimental.dlpack.to_dlpack
DLManagedTensor* to_dlpack(const Tensor& tensor);

/// Makes a tensor on the memory of another library. That library's deleter is called when the last
/// handle to the tensor is gone and GPUs have finished with it. The data must be complete and may
/// not change afterwards. Host memory whose address is not a multiple of 64 is copied. No tape
/// follows it, as in TensorFlow.
/// Throws  InvalidArgumentError for a dtype that this library lacks, for gaps or another order than
///         row-major, and for a device that this process lacks; the caller then still owns
///         `managed`.
/// Source  tf.experimental.dlpack.from_dlpack
Tensor from_dlpack(DLManagedTensor* managed);

}  // namespace distribute::experimental::dlpack
