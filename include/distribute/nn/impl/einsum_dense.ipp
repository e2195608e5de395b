#pragma once
#include <distribute/nn/dense.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>

#include <algorithm>

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
  read_equation();
  const std::vector<int64_t>& sizes = options_.output_shape;
  const auto size_of = [&](char letter) {  // output_shape may leave out axes at the front
    const size_t behind = output_.size() - output_.find(letter);
    if (behind > sizes.size())
      throw InvalidArgumentError(str_cat("EinsumDense: '", options_.equation, "' makes the axis '",
                                         std::string(1, letter), "', output_shape has ",
                                         sizes.size(), " axes"));
    return sizes[sizes.size() - behind];
  };
  for (const char letter : made_) made_sizes_.push_back(size_of(letter));
  for (const char letter : options_.bias_axes)
    if (output_.find(letter) == std::string::npos)
      throw InvalidArgumentError(str_cat("Bias dimension '", std::string(1, letter),
                                         "' was requested, but is not part of the output spec '",
                                         output_, "'"));
}

DISTRIBUTE_INLINE void EinsumDense::read_equation() {
  const std::string& equation = options_.equation;
  const auto refuse = [&](const char* why) {
    throw UnimplementedError(str_cat("EinsumDense: the equation '", equation, "' ", why));
  };
  const size_t comma = equation.find(','), arrow = equation.find("->");
  if (comma == std::string::npos || arrow == std::string::npos || arrow < comma)
    throw InvalidArgumentError(str_cat("Invalid einsum equation '", equation,
                                       "'. Equations must be in the form [X],[Y]->[Z], ",
                                       "...[X],[Y]->...[Z], or [X]...,[Y]->[Z]....."));
  input_ = equation.substr(0, comma), output_ = equation.substr(arrow + 2);
  const std::string kernel = equation.substr(comma + 1, arrow - comma - 1);
  ellipsis_ = nn_internal::take_ellipsis(input_);
  if (ellipsis_ != nn_internal::take_ellipsis(output_) || input_.find('.') != std::string::npos)
    refuse("has '...' elsewhere than in front");
  for (const char letter : input_)
    (kernel.find(letter) == std::string::npos ? kept_ : shared_) += letter;
  for (const char letter : kernel)
    if (input_.find(letter) == std::string::npos) made_ += letter;
  if (shared_.empty() || !kernel.ends_with(made_))
    refuse("does not begin its kernel with letters of the input");
  shared_ = kernel.substr(0, kernel.size() - made_.size());
  std::string all = kept_ + made_, output = output_;
  std::sort(all.begin(), all.end());
  std::sort(output.begin(), output.end());
  if (output != all || std::adjacent_find(all.begin(), all.end()) != all.end())
    refuse("does not give each letter once that is not in both input and kernel");
}

DISTRIBUTE_INLINE void EinsumDense::build(const Shape& input) {
  const int known = int(input_.size());
  if (input.rank() < known || (!ellipsis_ && input.rank() > known))
    throw InvalidArgumentError(str_cat("EinsumDense '", name(), "': '", options_.equation,
                                       "' does not fit ", to_string(input)));
  Shape kernel;
  for (const char letter : shared_) kernel.push_back(input[int(input_.find(letter)) - known]);
  for (const int64_t size : made_sizes_) kernel.push_back(size);
  kernel_ = add_weight("kernel", kernel, options_.kernel_initializer.of_matrix(int(shared_.size())),
                       nn_internal::constrained(options_.kernel_constraint));
  if (!options_.bias_axes.empty()) build_bias(input);
  build_lora(options_.lora_rank, options_.lora_alpha);
}

DISTRIBUTE_INLINE void EinsumDense::build_bias(const Shape& input) {
  Shape bias;  // as einsum's: from the first letter that has a bias
  for (size_t i = output_.find_first_of(options_.bias_axes); i < output_.size(); ++i) {
    const size_t made = made_.find(output_[i]);
    const int from_end = int(input_.find(output_[i])) - int(input_.size());
    const int64_t size = made == std::string::npos ? input[from_end] : made_sizes_[made];
    bias.push_back(options_.bias_axes.find(output_[i]) == std::string::npos ? 1 : size);
  }
  bias_ = add_weight("bias", bias, options_.bias_initializer,
                     nn_internal::constrained(options_.bias_constraint));
}

namespace nn_internal {

/// Orders the axes of the letters `from`, which are the last ones of x, as `to`.
DISTRIBUTE_INLINE Tensor in_order(const Tensor& x, const std::string& from, const std::string& to) {
  if (from == to) return x;
  const int front = x.shape().rank() - int(from.size());
  std::vector<int> order;
  for (int axis = 0; axis < front; ++axis) order.push_back(axis);
  for (const char letter : to) order.push_back(front + int(from.find(letter)));
  return transpose(x, order);
}

}  // namespace nn_internal

DISTRIBUTE_INLINE Tensor EinsumDense::call(const Tensor& x, CallOptions) {
  const Tensor sorted = nn_internal::in_order(x, input_, kept_ + shared_);
  const size_t kept = size_t(x.shape().rank()) - shared_.size();
  const int64_t inputs = Shape(sorted.shape().dims().subspan(kept)).num_elements();
  const int64_t units = Shape(made_sizes_).num_elements();
  Shape flat(sorted.shape().dims().first(kept)), result = flat;
  flat.push_back(inputs);
  for (const int64_t size : made_sizes_) result.push_back(size);
  const std::string made = kept_ + made_;
  // One number for each unit.
  const bool fused = bias_ && made == output_ && bias_.shape() == Shape(made_sizes_);
  const Tensor bias = fused ? reshape(bias_.value(), {units}) : Tensor();
  Tensor y = nn_internal::in_order(
      reshape(dense(reshape(sorted, flat), reshape(with_lora(kernel_), {inputs, units}), bias),
              result),
      made, output_);
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
