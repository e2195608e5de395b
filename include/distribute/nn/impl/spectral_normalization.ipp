#pragma once
#include <distribute/autograd/detail/recorded_step.hpp>
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/autograd/op_trace.hpp>
#include <distribute/base/error.hpp>
#include <distribute/nn/embedding.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/replica/replica_context.hpp>

#include <algorithm>
#include <utility>

namespace distribute::nn {

namespace nn_internal {

/// Divides by the norm of all elements, or by 1e-7 where the norm is smaller, as Keras does.
DISTRIBUTE_INLINE Tensor unit_vector(const Tensor& x) {
  const Tensor inverse = rsqrt(reduce_sum(square(x)));
  return x * minimum(inverse, fill(Shape{}, 1e7f, inverse.dtype(), inverse.device()));
}

}  // namespace nn_internal

DISTRIBUTE_INLINE SpectralNormalization::SpectralNormalization(std::unique_ptr<Module> layer,
                                                               SpectralNormalizationOptions options)
    : Module(std::move(options.name)), power_iterations_(options.power_iterations) {
  if (power_iterations_ < 1)
    throw InvalidArgumentError(
        str_cat("`power_iterations` should be greater than zero. Received: `power_iterations=",
                power_iterations_, "`"));
  add_element(std::move(layer));
}

DISTRIBUTE_INLINE void SpectralNormalization::build(const Shape& input) {
  layer().ensure_built(input);
  const auto weights = layer().own_variables();
  const auto found = std::find_if(weights.begin(), weights.end(), [](const NamedVariable& own) {
    return own.name == "kernel" || own.name == "embeddings";
  });
  if (found == weights.end())
    throw InvalidArgumentError(str_cat("'", name(), "': the layer '", layer().name(),
                                       "' has no weight 'kernel' or 'embeddings'"));
  kernel_ = found->variable;
  share_weight({"kernel", kernel_});
  vector_u_ =
      add_weight("vector_u", {1, kernel_.shape()[-1]}, initializers::truncated_normal(0.0f, 0.02f),
                 {.trainable = false, .dtype = kernel_.dtype()});
}

/// All replicas compute the same values, and one of them assigns to every copy.
DISTRIBUTE_INLINE void SpectralNormalization::normalize() {
  if (RecordedStep::current() || autograd_internal::active_trace())
    throw UnimplementedError(str_cat("'", name(), "' changes its kernel in training: such a step ",
                                     "cannot be recorded or exported"));
  const Tensor kernel = autocast(stop_gradient(kernel_.value()));
  if (reduce_max(abs(kernel)).item<float>() == 0) return;
  const int64_t last = kernel.shape()[-1];
  const Tensor weights = reshape(kernel, {kernel.num_elements() / last, last});
  Tensor u = autocast(stop_gradient(vector_u_.value())), v;
  for (int64_t i = 0; i < power_iterations_; ++i) {
    v = nn_internal::unit_vector(matmul(u, transpose(weights)));
    u = nn_internal::unit_vector(matmul(v, weights));
  }
  const Tensor sigma = reshape(matmul(matmul(v, weights), transpose(u)), {});
  const Tensor normalized = cast(kernel / sigma, kernel_.dtype());
  u = cast(u, vector_u_.dtype());
  const auto assign = [&] {
    vector_u_.assign(u);
    kernel_.assign(normalized);
  };
  if (ReplicaContext* replica = get_replica_context())
    replica->merge(assign);
  else
    assign();
}

/// The indices of an Embedding come as floating point numbers, whose dtype the result has.
DISTRIBUTE_INLINE Tensor SpectralNormalization::call(const Tensor& x, CallOptions options) {
  if (options.training) normalize();
  const bool indices = is_floating(x.dtype()) && dynamic_cast<const Embedding*>(&layer());
  const Tensor y = layer()(indices ? cast(x, DType::Int32) : x, std::move(options));
  return y.dtype() == x.dtype() ? y : cast(y, x.dtype());
}

}  // namespace distribute::nn
