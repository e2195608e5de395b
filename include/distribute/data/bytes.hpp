#pragma once
/// Byte strings as tensors: records of files, encoded pictures.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <string>
#include <string_view>

namespace distribute::data {

/// uint8 [size]; takes the bytes over without a copy. Stands for tf.data's scalar string.
Tensor bytes_tensor(std::string bytes);
/// Its bytes, which live as long as the tensor.
/// Throws  InvalidArgumentError for another dtype.
std::string_view bytes_of(const Tensor& tensor);

}  // namespace distribute::data
