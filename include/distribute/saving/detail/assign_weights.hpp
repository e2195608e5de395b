#pragma once
/// Assigns values of a file to variables.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/saving/keras_model.hpp>

#include <functional>
#include <string>
#include <vector>

namespace distribute::saving_internal {

/// A file's value for a variable.
struct FoundWeight {
  Variable variable;
  std::string key;  // empty: the file has none
  Shape shape = {};
  DType dtype = DType::Float32;
  std::function<Tensor()> read = {};
};

/// A load: all values are read and checked before the first is assigned.
class WeightAssignment {
 public:
  /// Errors name `file`.
  WeightAssignment(std::string file, const saving::LoadWeightsOptions& options)
      : file_(std::move(file)), options_(options) {
    if (options_.dry_run) options_.skip_mismatch = true;
  }

  /// Adds a value.
  /// Throws  NotFoundError if the file has none, InvalidArgumentError if it does not fit, unless
  ///          the options skip that.
  void take(const FoundWeight& found);
  /// Leaves out a variable that the file does not have, or throws an error, as the options say.
  void miss(const Variable& variable, const std::string& reason);
  /// Skips a layer, or throws an error, as the options say.
  void refuse(const std::vector<Variable>& variables, const std::string& reason);
  /// Returns whether the variable gets a value.
  bool has(const Variable& variable) const;
  /// Makes all elements of a variable zero that no file has.
  void clear(const Variable& variable);
  train::LoadedWeights& result() { return result_; }
  /// Assigns all values, unless the options ask for a dry run.
  train::LoadedWeights assign();

 private:
  std::string file_;
  saving::LoadWeightsOptions options_;
  std::vector<std::pair<Variable, Tensor>> values_;
  train::LoadedWeights result_;
};

}  // namespace distribute::saving_internal
