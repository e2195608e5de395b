#pragma once
/// Fewer bytes on the wire: float32 travels as a 16-bit float.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>

namespace distribute::hvd {

/// Fp16 has 11 bits of mantissa and ends at 65,504; Bf16 has 8 bits and float32's range. Sums are
/// taken in float32 and rounded once.
/// Source  horovod.Compression
enum class Compression : uint8_t { None, Fp16, Bf16 };

/// What travels; tensors that are not float32 stay as they are.
Tensor compress(Compression compression, const Tensor& tensor);
/// Back to the dtype from before.
Tensor decompress(const Tensor& tensor, DType dtype);

}  // namespace distribute::hvd
