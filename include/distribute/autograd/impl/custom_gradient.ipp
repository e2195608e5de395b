#pragma once
#include <distribute/autograd/custom_gradient.hpp>
#include <distribute/base/error.hpp>

#include <span>

namespace distribute {

DISTRIBUTE_INLINE Tensor
custom_gradient(const std::function<ValueAndGradient(const std::vector<Tensor>&)>& fn,
                const std::vector<Tensor>& inputs) {
  if (!autograd_internal::is_taping()) return fn(inputs).value;
  ValueAndGradient made;
  {
    const autograd_internal::HiddenTapes hidden;
    made = fn(inputs);
  }
  const Tensor value = made.value.renamed();
  record("custom_gradient", inputs, std::span(&value, 1),
         [gradient = std::move(made.gradient), count = inputs.size()](const Backward& backward) {
           std::vector<Tensor> gradients = gradient(backward.gradient());
           if (gradients.size() != count)
             throw InvalidArgumentError(str_cat("custom_gradient: the function gave ",
                                                gradients.size(), " gradients for ", count,
                                                " inputs"));
           return gradients;
         });
  return value;
}

}  // namespace distribute
