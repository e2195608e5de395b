#pragma once
#include <distribute/ops/detail/draw_log.hpp>
#include <distribute/ops/map_fn.hpp>

#include <memory>
#include <span>

namespace distribute {

namespace ops_internal {

using DrawCounters = std::shared_ptr<std::vector<uint64_t>>;

/// Computes the gradients of inputs and variables by a second call.
DISTRIBUTE_INLINE std::vector<Tensor> second_call(
    const std::function<Tensor(const std::vector<Tensor>&)>& fn, const std::vector<Tensor>& inputs,
    const std::vector<Variable>& variables, const DrawCounters& draws, const Tensor& upstream) {
  const autograd_internal::HiddenTapes hidden;
  const DrawLog log(DrawLog::Mode::Read, *draws);
  GradientTape tape;
  std::vector<Tensor> arguments;
  for (const Tensor& input : inputs) {
    arguments.push_back(input ? input.renamed() : input);  // the same input may occur twice
    if (input) tape.watch(arguments.back());
  }
  std::vector<Tensor> sources = arguments;
  for (const Variable& variable : variables) sources.push_back(variable.value());
  return tape.gradient({fn(arguments)}, sources, {.output_gradients = {upstream}});
}

}  // namespace ops_internal

DISTRIBUTE_INLINE Tensor recompute_grad(const std::function<Tensor(const std::vector<Tensor>&)>& fn,
                                        const std::vector<Tensor>& inputs) {
  if (!autograd_internal::is_taping()) return fn(inputs);
  const auto draws = std::make_shared<std::vector<uint64_t>>();
  std::vector<Variable> variables;
  Tensor value;
  {
    const autograd_internal::HiddenTapes hidden;
    const ops_internal::DrawLog log(ops_internal::DrawLog::Mode::Write, *draws);
    value = fn(inputs).renamed();
    variables = hidden.variables_read();
  }
  std::vector<Tensor> sources = inputs;
  // so that tapes see them
  for (const Variable& variable : variables) sources.push_back(variable.value());
  record("recompute_grad", sources, std::span(&value, 1), [=](const Backward& backward) {
    return ops_internal::second_call(fn, inputs, variables, draws, backward.gradient());
  });
  return value;
}

}  // namespace distribute
