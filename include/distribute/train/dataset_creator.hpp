#pragma once
/// Data for fit and evaluate that a function makes, on each worker its own.

#include <distribute/base/config.hpp>
#include <distribute/coordinator/dataset_function.hpp>

#include <string>

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
