#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/nn/policy.hpp>

namespace distribute::nn {

namespace nn_internal {

struct GlobalPolicy {
  std::string name = "float32";  // tf.keras.mixed_precision
};

}  // namespace nn_internal

DISTRIBUTE_INLINE Policy::Policy(const std::string& name) {
  if (name == "float32")
    compute_dtype_ = DType::Float32;
  else if (name == "mixed_bfloat16")
    compute_dtype_ = DType::BFloat16;
  else if (name == "mixed_float16")
    compute_dtype_ = DType::Float16;
  else
    throw InvalidArgumentError(str_cat("there is no policy '", name, "'; there are float32, ",
                                       "mixed_bfloat16 and mixed_float16"));
}

DISTRIBUTE_INLINE std::string Policy::name() const {
  return str_cat(compute_dtype_ == DType::Float32 ? "" : "mixed_", name_of(compute_dtype_));
}

DISTRIBUTE_INLINE void set_global_policy(const Policy& policy) {
  in_process<nn_internal::GlobalPolicy>().name = policy.name();
}
DISTRIBUTE_INLINE void set_global_policy(const std::string& name) {
  set_global_policy(Policy(name));
}
DISTRIBUTE_INLINE Policy global_policy() {
  return Policy(in_process<nn_internal::GlobalPolicy>().name);
}

}  // namespace distribute::nn
