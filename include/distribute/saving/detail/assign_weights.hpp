#pragma once
/// Values of a file on their way into variables.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/saving/keras_model.hpp>

#include <functional>
#include <string>
#include <vector>

namespace distribute::saving_internal {

/// What a file has for a variable.
struct FoundWeight {
  Variable variable;
  std::string key;  // empty: nothing
  Shape shape = {};
  DType dtype = DType::Float32;
  std::function<Tensor()> read = {};
};

/// One load: the values are read and checked before any of them is assigned.
class WeightAssignment {
 public:
  /// Errors name `file`.
  WeightAssignment(std::string file, const saving::LoadWeightsOptions& options)
      : file_(std::move(file)), options_(options) {}

  /// Throws  NotFoundError where the file has nothing, InvalidArgumentError where it does not fit,
  ///         unless the options pass over that.
  void take(const FoundWeight& found);
  /// A layer that is passed over, or an error.
  void refuse(const std::vector<Variable>& variables, const std::string& reason);
  train::LoadedWeights& result() { return result_; }
  train::LoadedWeights assign();

 private:
  std::string file_;
  saving::LoadWeightsOptions options_;
  std::vector<std::pair<Variable, Tensor>> values_;
  train::LoadedWeights result_;
};

}  // namespace distribute::saving_internal
