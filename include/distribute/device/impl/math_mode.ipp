#pragma once
#include <distribute/base/detail/core_watch.hpp>
#include <distribute/base/error.hpp>
#include <distribute/device/detail/device_state.hpp>
#include <distribute/device/placement.hpp>

#include <string>

namespace distribute {

DISTRIBUTE_INLINE void config::set_float32_matmul_precision(std::string_view precision) {
  if (precision == "medium")
    throw UnimplementedError(
        "set_float32_matmul_precision: \"medium\" is not there: for bfloat16 set the policy "
        "mixed_bfloat16 (nn::set_global_policy)");
  if (precision != "high" && precision != "highest")
    throw InvalidArgumentError(
        "set_float32_matmul_precision: neither \"highest\" nor \"high\": \"" +
        std::string(precision) + "\"");
  device_state().allow_winograd = device_state().tensor_float_32 = precision == "high";
}

DISTRIBUTE_INLINE std::string_view config::get_float32_matmul_precision() {
  return device_state().allow_winograd ? "high" : "highest";
}

DISTRIBUTE_INLINE void config::experimental::enable_op_determinism() {
  device_state().op_determinism = true;
  base_internal::keep_number_of_threads();
}

}  // namespace distribute
