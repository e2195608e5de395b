#pragma once
/// This library's own convolutions, which are used before those of oneDNN: Winograd's algorithm for
/// 3x3 and 5x5 filters, and products that read images in place on CPUs with AVX2.

#include <distribute/base/config.hpp>

#include <memory>

namespace distribute {

class Backend;

/// Makes a backend that uses this library's own kernels where they are faster and calls `other` for
/// the rest. `other` is a backend of oneDNN that outlives it. DeviceState::allow_winograd turns the
/// own kernels off.
std::unique_ptr<Backend> with_own_convolutions(Backend& other);

}  // namespace distribute
