#pragma once
#include <distribute/base/detail/type_names.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/coordinator/detail/registry.hpp>

#include <algorithm>
#include <utility>

namespace distribute::coordinator_internal {

DISTRIBUTE_INLINE int64_t WorkerResources::add(std::shared_ptr<data::Dataset> dataset) {
  datasets_.emplace(next_, std::move(dataset));
  return next_++;
}
DISTRIBUTE_INLINE int64_t WorkerResources::add(std::shared_ptr<data::Iterator> iterator) {
  iterators_.emplace(next_, std::move(iterator));
  return next_++;
}

DISTRIBUTE_INLINE int64_t WorkerResources::add(std::shared_ptr<DistributedIterator> iterator) {
  distributed_.emplace(next_, std::move(iterator));
  return next_++;
}

DISTRIBUTE_INLINE void WorkerResources::remove(int64_t id) {
  distributed_.erase(id);
  iterators_.erase(id);
  datasets_.erase(id);
}

DISTRIBUTE_INLINE void WorkerResources::clear() {
  distributed_.clear();
  iterators_.clear();
  datasets_.clear();
}

DISTRIBUTE_INLINE data::Dataset& WorkerResources::dataset(int64_t id) const {
  const auto found = datasets_.find(id);
  if (found == datasets_.end()) throw ResourceLostError(str_cat("this worker has no dataset ", id));
  return *found->second;
}

DISTRIBUTE_INLINE data::Iterator& WorkerResources::iterator(int64_t id) const {
  const auto found = iterators_.find(id);
  if (found == iterators_.end())
    throw ResourceLostError(str_cat("this worker has no iterator ", id));
  return *found->second;
}

DISTRIBUTE_INLINE DistributedIterator& WorkerResources::distributed_iterator(int64_t id) const {
  const auto found = distributed_.find(id);
  if (found == distributed_.end())
    throw ResourceLostError(str_cat("this worker has no distributed iterator ", id));
  return *found->second;
}

DISTRIBUTE_INLINE Registry& registry() { return in_process<Registry>(); }

DISTRIBUTE_INLINE void Registry::add(RegistrationPtr registration) {
  if (registration->name.empty())
    throw InvalidArgumentError(str_cat("a remote ", registration->kind, " needs a name"));
  const std::lock_guard lock(mutex_);
  for (const RegistrationPtr& other : by_order_)
    if (other->kind == registration->kind && other->name == registration->name)
      throw AlreadyExistsError(
          str_cat("there is a remote ", registration->describe(), " already; names are unique"));
  by_order_.push_back(std::move(registration));
}

DISTRIBUTE_INLINE void Registry::remove(const RegistrationPtr& registration) {
  const std::lock_guard lock(mutex_);
  std::erase(by_order_, registration);
}

DISTRIBUTE_INLINE void Registry::add_type(RegistrationPtr registration) {
  const std::lock_guard lock(mutex_);
  by_type_[registration->name].push_back(std::move(registration));
}

DISTRIBUTE_INLINE RegistrationPtr Registry::find(const std::string& kind,
                                                 const std::string& name) const {
  const std::lock_guard lock(mutex_);
  std::string known;
  for (const RegistrationPtr& one : by_order_) {
    if (one->kind == kind && one->name == name) return one;
    known += (known.empty() ? "" : ", ") + one->describe();
  }
  const auto of_type = by_type_.find(name);
  const size_t count = of_type == by_type_.end() ? 0 : of_type->second.size();
  if (kind == "dataset" && count == 1) return of_type->second.front();
  if (count > 1)
    throw InvalidArgumentError(
        "several functions without a name look alike to the compiler (" +
        base_internal::readable_type(name) +
        "); give the dataset a name: RemoteDataset train(\"train\", ...) before Server::join()");
  throw InvalidArgumentError(str_cat("there is no remote ", kind, " \"", name, "\" here; there is ",
                                     known.empty() ? "nothing" : known,
                                     ". Every process registers the same, before Server::join()"));
}

DISTRIBUTE_INLINE std::vector<std::string> Registry::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const RegistrationPtr& one : by_order_)
    names.push_back(
        one->describe() +
        (one->signature.empty() ? "" : " of type " + base_internal::readable_type(one->signature)));
  return names;
}

DISTRIBUTE_INLINE void check_same_registrations(const std::vector<std::string>& coordinators,
                                                const std::vector<std::string>& workers,
                                                const std::string& worker) {
  for (size_t i = 0; i < coordinators.size(); ++i) {
    const bool missing = i >= workers.size();
    if (!missing && workers[i] == coordinators[i]) continue;
    throw InvalidArgumentError(str_cat(
        "remote functions differ: number ", i + 1, " is ", coordinators[i],
        " in the coordinator, and ", missing ? "there is none" : workers[i], " in ", worker,
        ". Every process must register the same functions in the same order, a worker before "
        "Server::join()"));
  }
}

}  // namespace distribute::coordinator_internal
