#pragma once
/// The GPU backend of our own kernels: matrix products and convolutions without any library.

#include <distribute/base/config.hpp>

namespace distribute {

class Backend;  // backend.hpp, whose bodies need this header

/// Correct everywhere, tuned nowhere: float32 and integers; what cuDNN or cuBLASLt cannot do, and
/// the machines that lack them.
Backend& cuda_plain_backend();

}  // namespace distribute
