#pragma once
#include <distribute/horovod/collectives.hpp>
#include <distribute/ops/array.hpp>

namespace distribute::hvd {

DISTRIBUTE_INLINE Tensor compress(Compression compression, const Tensor& tensor) {
  if (compression == Compression::None || tensor.dtype() != DType::Float32) return tensor;
  return cast(tensor, compression == Compression::Fp16 ? DType::Float16 : DType::BFloat16);
}

DISTRIBUTE_INLINE Tensor decompress(const Tensor& tensor, DType dtype) {
  return tensor.dtype() == dtype ? tensor : cast(tensor, dtype);
}

}  // namespace distribute::hvd
