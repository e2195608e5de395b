#pragma once
#include <distribute/base/error.hpp>
#include <distribute/horovod/basics.hpp>
#include <distribute/horovod/distributed_optimizer.hpp>

#include <utility>

namespace distribute::horovod_internal {

DISTRIBUTE_INLINE GradientReducer::GradientReducer(std::string name,
                                                   const hvd::GradientOptions& options,
                                                   bool transient)
    : name_(std::move(name)), options_(options), transient_(transient) {
  const double factor = options.gradient_predivide_factor;
  if (!(factor > 0) || (factor != 1 && options.op != hvd::Average))
    throw InvalidArgumentError(
        str_cat("gradient_predivide_factor: wanted a positive number, and 1 ",
                "unless op is Average; got ", factor, " with ", hvd::name_of(options.op)));
}

DISTRIBUTE_INLINE hvd::AllreduceOptions GradientReducer::options_of(
    size_t i, const Variable& variable) const {
  hvd::AllreduceOptions all{.op = options_.op,
                            .compression = options_.compression,
                            .process_set = options_.process_set,
                            .name = str_cat(name_, ".", i, ".", variable.name())};
  const double factor = options_.gradient_predivide_factor;
  if (factor != 1) {
    all.op = hvd::Sum;
    all.prescale_factor = 1 / factor;
    all.postscale_factor = factor / options_.process_set.size();
  }
  return all;
}

DISTRIBUTE_INLINE void GradientReducer::ready(size_t i, const Tensor& gradient,
                                              const Variable& variable) {
  if (!gradient || (is_indexed_slices(gradient) && !options_.sparse_as_dense)) return;
  if (begun_.size() <= i) begun_.resize(i + 1);
  if (begun_[i]) return;
  const hvd::AllreduceOptions options = options_of(i, variable);
  begun_[i] = transient_ ? begin_transient_allreduce(gradient, options)
                         : hvd::allreduce_async(gradient, options);
}

DISTRIBUTE_INLINE std::vector<Tensor> GradientReducer::reduce(
    const std::vector<Tensor>& gradients, const std::vector<Variable>& variables) {
  if (gradients.size() != variables.size())
    throw InvalidArgumentError(
        str_cat("hvd: ", gradients.size(), " gradients for ", variables.size(), " variables"));
  begun_.resize(gradients.size());
  for (size_t i = 0; i < gradients.size(); ++i) ready(i, gradients[i], variables[i]);
  const std::vector<hvd::Handle> handles = std::exchange(begun_, {});
  std::vector<Tensor> reduced(gradients.size());
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (handles[i])
      reduced[i] = handles[i].wait();
    else if (gradients[i])
      reduced[i] = hvd::allreduce(gradients[i], options_of(i, variables[i]));
  }
  return reduced;
}

}  // namespace distribute::horovod_internal
