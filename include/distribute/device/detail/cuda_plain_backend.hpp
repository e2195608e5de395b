#pragma once
/// The GPU backend that computes matrix products and convolutions with this library's own kernels.

#include <distribute/base/config.hpp>

namespace distribute {

class Backend;  // backend.hpp, whose bodies need this header

/// Correct, but not tuned. It computes float32 and integers where cuDNN or cuBLASLt is missing or
/// lacks an operation.
Backend& cuda_plain_backend();

}  // namespace distribute
