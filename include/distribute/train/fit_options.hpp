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

/// Under every strategy the function is called once for each input pipeline and gives batches for
/// one replica; with a coordinator on its workers, where the data should be endless. One that
/// captures something needs a name: RemoteDataset train("train", [&](const InputContext&) {...});
/// Source  tf.keras.utils.experimental.DatasetCreator
class DatasetCreator {
 public:
  DatasetCreator(const RemoteDataset& dataset);
  template <coordinator_internal::StatelessDatasetFunction F>
  DatasetCreator(const F&) : name_(coordinator_internal::DatasetType<F>::name()) {
    static_cast<void>(coordinator_internal::DatasetType<F>::added);  // registered before main
  }
  /// Under which the function is registered.
  const std::string& name() const { return name_; }
  /// What the function gives in this process.
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

/// A dataset of global batches, which the strategy divides among its replicas; one that is divided
/// already, of strategy.distribute_datasets_from_function; or a function that makes datasets:
/// DatasetCreator, RemoteDataset, or a lambda without captures.
class InputData {
 public:
  InputData(data::Dataset dataset) : data_(std::move(dataset)) {}
  InputData(const DistributedDataset& dataset);
  template <std::convertible_to<DatasetCreator> F>
  InputData(const F& function) : data_(DatasetCreator(function)) {}
  const auto& data() const { return data_; }
  /// The number of global batches, data::kInfiniteCardinality or data::kUnknownCardinality.
  int64_t cardinality() const;

 private:
  std::variant<data::Dataset, std::shared_ptr<const DistributedDataset>, DatasetCreator> data_;
};

/// `what` names the caller and `option` the number of steps that it has, or not.
/// Throws  InvalidArgumentError for fewer than one step, and for data that need the number where
///         it is not given: those without an end, and those that a DatasetCreator makes.
void require_steps(const InputData& data, std::optional<int64_t> steps, const char* what,
                   const char* option);

/// Arrays in memory: one example per row. `y` and `sample_weight` may be none.
/// Source  the arguments x, y and sample_weight of tf.keras.Model.fit
struct ArrayData {
  Tensor x, y = {}, sample_weight = {};
  int64_t size() const { return x.shape()[0]; }
  /// Examples [begin, end).
  ArrayData rows(int64_t begin, int64_t end) const;
  data::Dataset rows_as_dataset() const;
};

/// Every n-th epoch, or the epochs of a list, which count from 1.
class ValidationFrequency {
 public:
  /// Throws  InvalidArgumentError for numbers below 1.
  ValidationFrequency(int64_t every);
  ValidationFrequency(std::initializer_list<int64_t> epochs);
  /// `epoch` counts from 0.
  bool is_due(int64_t epoch) const {
    return every_ ? (epoch + 1) % every_ == 0 : epochs_.contains(epoch + 1);
  }

 private:
  int64_t every_ = 0;
  std::set<int64_t> epochs_;
};

/// What a loop prints, on the chief.
enum class Verbose {
  Auto,      // as Progress
  Silent,    // nothing
  Progress,  // a bar on a terminal, else a line every 100 steps
  Epochs     // one line for each epoch
};

struct FitOptions {  // of Model::fit
  int64_t epochs = 1;
  std::optional<int64_t> steps_per_epoch = {};
  std::optional<InputData> validation_data = {};
  std::optional<int64_t> validation_steps = {};
  ValidationFrequency validation_freq = 1;
  std::vector<CallbackHandle> callbacks = {};
  int64_t initial_epoch = 0;
  /// Weights of the examples of each class in the loss; 1 for classes that are not named. Not with
  /// sample weights.
  std::map<int64_t, float> class_weight = {};
  Verbose verbose = Verbose::Auto;
};

/// Further options of fit for arrays.
struct ArrayOptions {
  int64_t batch_size = 32;
  bool shuffle = true;  // the training examples, anew in each epoch
  /// The part of the examples, the last ones, that validates and is not trained on.
  double validation_split = 0;
  std::optional<ArrayData> validation_data = {};
  std::optional<int64_t> validation_batch_size = {};  // unset: as batch_size
};

struct EvaluateOptions {  // of Model::evaluate
  std::optional<int64_t> steps = {};
  std::vector<CallbackHandle> callbacks = {};
};

struct PredictOptions {  // of Model::predict
  std::optional<int64_t> steps = {};
  std::vector<CallbackHandle> callbacks = {};
};

}  // namespace distribute::train
