#pragma once
/// Convolutions of our own before those of oneDNN: Winograd's algorithm for 3x3 and 5x5 filters,
/// and products over images as they lie on CPUs with AVX2.

#include <distribute/base/config.hpp>

#include <memory>

namespace distribute {

class Backend;

/// A backend that computes what our own kernels compute faster and leaves the rest to `other`, a
/// backend of oneDNN that outlives it. DeviceState::allow_winograd turns our kernels off.
std::unique_ptr<Backend> with_own_convolutions(Backend& other);

}  // namespace distribute
