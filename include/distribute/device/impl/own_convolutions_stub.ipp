#pragma once
#if !DISTRIBUTE_HAS_ONEDNN
#include <distribute/base/error.hpp>
#include <distribute/device/detail/backend.hpp>
#include <distribute/device/detail/own_convolutions.hpp>

namespace distribute {

DISTRIBUTE_INLINE std::unique_ptr<Backend> with_own_convolutions(Backend&) {
  throw UnimplementedError("our own convolutions need a build with oneDNN (libdnnl-dev)");
}

DISTRIBUTE_INLINE bool device_internal::register_own_convolutions() { return false; }

}  // namespace distribute
#endif
