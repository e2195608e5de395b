#pragma once
/// Ends a training whose loss or weights are no numbers any more, and says where that began.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace distribute::train {

/// Name of the first variable with a value that is nan or infinite; "": there is none.
std::string first_not_finite(const std::vector<Variable>& variables);

/// `what`: "loss". TerminateOnNaN is the same for `fit`, and ends it without an error.
/// Throws  FailedPreconditionError with the step and the first variable that is not finite, where
///         `loss` is nan or infinite.
void check_finite_loss(const char* what, double loss, int64_t step,
                       const std::vector<Variable>& variables);

/// Before a checkpoint: the last update may have spoiled what no loss has shown yet.
/// Throws  FailedPreconditionError with the step and the variable.
void check_worth_saving(const std::vector<Variable>& variables, int64_t step);

}  // namespace distribute::train
