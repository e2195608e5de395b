#pragma once
#include <distribute/nn/dense.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>

namespace distribute::nn {

namespace nn_internal {

/// The letters behind "...", which is taken away.
DISTRIBUTE_INLINE bool take_ellipsis(std::string& letters) {
  if (!letters.starts_with("...")) return false;
  letters.erase(0, 3);
  return true;
}

}  // namespace nn_internal

DISTRIBUTE_INLINE EinsumDense::EinsumDense(EinsumDenseOptions options)
    : LoraLayer(options.name), options_(std::move(options)) {
  const std::string& equation = options_.equation;
  const auto refuse = [&](const char* why) {
    throw UnimplementedError(str_cat("EinsumDense: the equation '", equation, "' ", why));
  };
  const size_t comma = equation.find(','), arrow = equation.find("->");
  if (comma == std::string::npos || arrow == std::string::npos || arrow < comma)
    throw InvalidArgumentError(str_cat("Invalid einsum equation '", equation,
                                       "'. Equations must be in the form [X],[Y]->[Z], ",
                                       "...[X],[Y]->...[Z], or [X]...,[Y]->[Z]....."));
  std::string input = equation.substr(0, comma), output = equation.substr(arrow + 2);
  const std::string kernel = equation.substr(comma + 1, arrow - comma - 1);
  ellipsis_ = nn_internal::take_ellipsis(input);
  if (ellipsis_ != nn_internal::take_ellipsis(output) || input.find('.') != std::string::npos)
    refuse("has '...' elsewhere than in front");
  size_t shared = 0;
  while (shared < kernel.size() && input.find(kernel[shared]) != std::string::npos) ++shared;
  shared_ = kernel.substr(0, shared), made_ = kernel.substr(shared);
  if (shared == 0 || !input.ends_with(shared_))
    refuse("does not begin its kernel with the input's last letters");
  kept_ = input.substr(0, input.size() - shared);
  if (output != kept_ + made_) refuse("gives its letters in another order than input and kernel");
  if (options_.output_shape.size() < made_.size())
    throw InvalidArgumentError(str_cat("EinsumDense: '", equation, "' makes ", made_.size(),
                                       " axes, output_shape has ", options_.output_shape.size()));
  made_sizes_.assign(options_.output_shape.end() - std::ptrdiff_t(made_.size()),
                     options_.output_shape.end());
  for (const char letter : options_.bias_axes)
    if (output.find(letter) == std::string::npos)
      throw InvalidArgumentError(str_cat("Bias dimension '", std::string(1, letter),
                                         "' was requested, but is not part of the output spec '",
                                         output, "'"));
}

DISTRIBUTE_INLINE void EinsumDense::build(const Shape& input) {
  const int known = int(kept_.size() + shared_.size());
  if (input.rank() < known || (!ellipsis_ && input.rank() > known))
    throw InvalidArgumentError(str_cat("EinsumDense '", name(), "': '", options_.equation,
                                       "' does not fit ", to_string(input)));
  Shape kernel(input.dims().last(shared_.size()));
  for (const int64_t size : made_sizes_) kernel.push_back(size);
  kernel_ = add_weight("kernel", kernel, options_.kernel_initializer.of_matrix(int(shared_.size())),
                       nn_internal::constrained(options_.kernel_constraint));
  if (!options_.bias_axes.empty()) build_bias(input);
  build_lora(options_.lora_rank, options_.lora_alpha);
}

DISTRIBUTE_INLINE void EinsumDense::build_bias(const Shape& input) {
  const int known = int(kept_.size() + shared_.size());
  const std::string output = kept_ + made_;
  Shape bias;  // as einsum's: from the first letter that has a bias
  for (size_t i = output.find_first_of(options_.bias_axes); i < output.size(); ++i) {
    const int64_t size = i < kept_.size() ? input[int(i) - known] : made_sizes_[i - kept_.size()];
    bias.push_back(options_.bias_axes.find(output[i]) == std::string::npos ? 1 : size);
  }
  bias_ = add_weight("bias", bias, options_.bias_initializer,
                     nn_internal::constrained(options_.bias_constraint));
}

DISTRIBUTE_INLINE Tensor EinsumDense::call(const Tensor& x, CallOptions) {
  const size_t kept = size_t(x.shape().rank()) - shared_.size();
  const int64_t inputs = Shape(x.shape().dims().subspan(kept)).num_elements();
  const int64_t units = Shape(made_sizes_).num_elements();
  Shape flat(x.shape().dims().first(kept)), result = flat;
  flat.push_back(inputs);
  for (const int64_t size : made_sizes_) result.push_back(size);
  const bool fused = bias_ && bias_.shape() == Shape(made_sizes_);  // one number for each unit
  const Tensor bias = fused ? reshape(bias_.value(), {units}) : Tensor();
  Tensor y =
      reshape(dense(reshape(x, flat), reshape(with_lora(kernel_), {inputs, units}), bias), result);
  if (bias_ && !fused) y = y + cast(bias_.value(), y.dtype());
  return options_.activation ? options_.activation(y) : y;
}

DISTRIBUTE_INLINE std::vector<Tensor> EinsumDense::own_losses() const {
  return penalties(options_.kernel_regularizer, kernel_, options_.bias_regularizer, bias_);
}

DISTRIBUTE_INLINE LoraLayer::LoraTarget EinsumDense::lora_target() const {
  return {"kernel", kernel_, bool(options_.kernel_constraint)};
}

}  // namespace distribute::nn
