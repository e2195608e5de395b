#pragma once
/// Datasets that workers make for themselves.

#include <distribute/base/config.hpp>
#include <distribute/coordinator/detail/registry.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/data/input_context.hpp>

#include <concepts>
#include <functional>
#include <string>
#include <type_traits>
#include <typeinfo>

namespace distribute {

/// A function that takes an InputContext or nothing.
template <typename F>
concept DatasetFunction = std::is_invocable_r_v<data::Dataset, const F&, const InputContext&> ||
    std::is_invocable_r_v<data::Dataset, const F&>;

namespace coordinator_internal {

/// Registers the function for datasets of a type; returns true.
bool add_dataset_type(const char* name, data::Dataset (*make)(const InputContext&));

/// Type of a function without captures. Such a function has no state, so each worker can make it
/// from its type alone. Every process of the same binary registers the type before main.
template <typename F>
concept StatelessDatasetFunction =
    DatasetFunction<F> && std::is_empty_v<F> && std::is_default_constructible_v<F>;

template <StatelessDatasetFunction F>
struct DatasetType {
  static const char* name() { return typeid(F).name(); }
  static data::Dataset make(const InputContext& context) {
    if constexpr (std::is_invocable_v<const F&, const InputContext&>)
      return F{}(context);
    else
      return F{}();
  }
  static inline const bool added = add_dataset_type(name(), make);
};

}  // namespace coordinator_internal

/// Registers a function that captures variables: `RemoteDataset train("train", [&](const
/// InputContext& input) { ... });` in every process before Server::join(). It is registered while
/// the object lives.
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
