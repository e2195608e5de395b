#pragma once
/// Functions that make a worker's dataset and have a name.

#include <distribute/base/config.hpp>
#include <distribute/coordinator/dataset_function.hpp>
#include <distribute/coordinator/detail/registry.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/data/input_context.hpp>

#include <functional>
#include <string>

namespace distribute {

/// `RemoteDataset train("train", [&](const InputContext& input) { ... });` in every process before
/// Server::join(), for a function that captures something. Registered as long as it lives.
class RemoteDataset {
 public:
  /// Throws  AlreadyExistsError for a name that is taken.
  RemoteDataset(const std::string& name,
                std::function<data::Dataset(const InputContext&)> make_data);
  const std::string& name() const { return handle_.name(); }

 private:
  coordinator_internal::RegistrationHandle handle_;
};

}  // namespace distribute
