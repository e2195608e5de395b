#pragma once
/// Arguments of compile, fit, evaluate and predict.

#include <distribute/base/config.hpp>
#include <distribute/coordinator/remote_dataset.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/train/callback.hpp>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace distribute {
class RemoteDataset;
}

namespace distribute::train {

/// Wraps a function that makes a dataset. Under every strategy it is called once for each input
/// pipeline and returns batches for one replica; with a coordinator it is called on the workers,
/// where the data should be endless. A function that captures variables needs a name: RemoteDataset
/// train("train", [&](const InputContext&) {...});
/// Source  tf.keras.utils.experimental.DatasetCreator
class DatasetCreator {
 public:
  DatasetCreator(const RemoteDataset& dataset);
  template <coordinator_internal::StatelessDatasetFunction F>
  DatasetCreator(const F&) : name_(coordinator_internal::DatasetType<F>::name()) {
    static_cast<void>(coordinator_internal::DatasetType<F>::added);  // registered before main
  }
  /// Returns the name under which the function is registered.
  const std::string& name() const { return name_; }
  /// Calls the function in this process.
  /// Throws  InvalidArgumentError when it is not registered any more.
  data::Dataset operator()(const InputContext& context) const;

 private:
  std::string name_;
};

}  // namespace distribute::train

namespace distribute {
class DistributedDataset;
}

namespace distribute::train {

/// Data for fit: a dataset of global batches, which the strategy divides among its replicas; a
/// dataset that strategy.distribute_datasets_from_function has divided; or a function that makes
/// datasets: DatasetCreator, RemoteDataset, or a lambda without captures.
class InputData {
 public:
  InputData(data::Dataset dataset) : data_(std::move(dataset)) {}
  InputData(const DistributedDataset& dataset);
  template <std::convertible_to<DatasetCreator> F>
  InputData(const F& function) : data_(DatasetCreator(function)) {}
  const auto& data() const { return data_; }
  /// Returns the number of global batches, data::kInfiniteCardinality or data::kUnknownCardinality.
  int64_t cardinality() const;

 private:
  std::variant<data::Dataset, std::shared_ptr<const DistributedDataset>, DatasetCreator> data_;
};

/// Checks the number of steps. `what` names the caller and `option` the option that holds the
/// number.
/// Throws  InvalidArgumentError for fewer than one step, and for data without end or from a
///          DatasetCreator if the number is not given.
void require_steps(const InputData& data, std::optional<int64_t> steps, const char* what,
                   const char* option);

/// Arrays in memory, with one example per row. `y` and `sample_weight` may be empty.
/// Source  the arguments x, y and sample_weight of tf.keras.Model.fit
struct ArrayData {
  Tensor x, y = {}, sample_weight = {};
  int64_t size() const { return x.shape()[0]; }
  /// Returns examples [begin, end).
  ArrayData rows(int64_t begin, int64_t end) const;
  data::Dataset rows_as_dataset() const;
};

/// Epochs that are validated: every n-th, or those of a list, which count from 1.
class ValidationFrequency {
 public:
  /// Throws  InvalidArgumentError for numbers below 1.
  ValidationFrequency(int64_t every);
  ValidationFrequency(std::initializer_list<int64_t> epochs);
  /// Returns whether to validate after `epoch`, which counts from 0.
  bool is_due(int64_t epoch) const {
    return every_ ? (epoch + 1) % every_ == 0 : epochs_.contains(epoch + 1);
  }

 private:
  int64_t every_ = 0;
  std::set<int64_t> epochs_;
};

/// Output of a loop, printed by the chief.
enum class Verbose {
  Auto,      // the same as Progress
  Silent,    // nothing
  Progress,  // a bar on a terminal, else a line every 100 steps
  Epochs     // one line for each epoch
};

struct FitOptions {  // options of Model::fit
  int64_t epochs = 1;
  std::optional<int64_t> steps_per_epoch = {};
  std::optional<InputData> validation_data = {};
  std::optional<int64_t> validation_steps = {};
  ValidationFrequency validation_freq = 1;
  std::vector<CallbackHandle> callbacks = {};
  int64_t initial_epoch = 0;
  /// Weights in the loss of the examples of each class; 1 for other classes. They cannot be
  /// combined with sample weights.
  std::map<int64_t, float> class_weight = {};
  Verbose verbose = Verbose::Auto;
};

/// Further options of fit for arrays.
struct ArrayOptions {
  int64_t batch_size = 32;
  bool shuffle = true;  // shuffles the training examples anew in each epoch
  /// The share of the examples, taken from the end, that is used for validation only.
  double validation_split = 0;
  std::optional<ArrayData> validation_data = {};
  std::optional<int64_t> validation_batch_size = {};  // unset: the same as batch_size
};

struct EvaluateOptions {  // options of Model::evaluate
  std::optional<int64_t> steps = {};
  std::vector<CallbackHandle> callbacks = {};
};

struct PredictOptions {  // options of Model::predict
  std::optional<int64_t> steps = {};
  std::vector<CallbackHandle> callbacks = {};
};

}  // namespace distribute::train
