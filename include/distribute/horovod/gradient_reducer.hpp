#pragma once
/// Reduces gradients over the ranks, each as soon as it is there.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/horovod/collectives.hpp>

#include <string>
#include <vector>

namespace distribute::hvd {

/// How DistributedOptimizer and DistributedGradientTape reduce.
struct GradientOptions {
  Op op = Average;
  Compression compression = Compression::None;
  /// An average becomes a sum of gradients divided by this, which is then multiplied by
  /// this / size: against overflow of 16-bit sums.
  double gradient_predivide_factor = 1;
  bool sparse_as_dense = false;  // IndexedSlices are reduced as dense tensors
  ProcessSet process_set = {};
};

}  // namespace distribute::hvd

namespace distribute::horovod_internal {

/// The gradients of one step after the other. One thread.
class GradientReducer {
 public:
  /// `name` tells reducers apart, in the same way on all ranks.
  /// `transient`: the gradients of a step are gone before the next.
  /// Throws  InvalidArgumentError for a factor with another op than Average, or that is not
  ///         positive.
  GradientReducer(std::string name, const hvd::GradientOptions& options, bool transient = false);

  /// Forgets what a step that failed had begun.
  void begin_step() { begun_.clear(); }
  /// Begins with a gradient of this step, that of variable `i`.
  void ready(size_t i, const Tensor& gradient, const Variable& variable);
  /// All gradients of the step, reduced, in order; none stays none. What ready() was told is not
  /// begun again.
  std::vector<Tensor> reduce(const std::vector<Tensor>& gradients,
                             const std::vector<Variable>& variables);

  const hvd::GradientOptions& options() const { return options_; }

 private:
  hvd::AllreduceOptions options_of(size_t i, const Variable& variable) const;

  const std::string name_;
  const hvd::GradientOptions options_;
  const bool transient_;
  std::vector<hvd::Handle> begun_;  // by variable
};

}  // namespace distribute::horovod_internal
