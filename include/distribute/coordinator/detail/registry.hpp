#pragma once
/// Functions and dataset functions that a worker can run, by name; equal in every process of the
/// job.

#include <distribute/base/config.hpp>
#include <distribute/coordinator/remote_value.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/data/input_context.hpp>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace distribute {
class DistributedIterator;
}

namespace distribute::coordinator_internal {

/// Thrown when a function was sent to a worker of which its argument is not a resource any more.
class ResourceLostError : public AbortedError {
 public:
  using AbortedError::AbortedError;
};

/// The coordinator's resources on a worker, by number.
class WorkerResources {
 public:
  int64_t add(std::shared_ptr<data::Dataset> dataset);
  int64_t add(std::shared_ptr<data::Iterator> iterator);
  int64_t add(std::shared_ptr<DistributedIterator> iterator);
  void remove(int64_t id);
  void clear();
  /// Throw  ResourceLostError when there is no resource of that kind and number.
  data::Dataset& dataset(int64_t id) const;
  data::Iterator& iterator(int64_t id) const;
  DistributedIterator& distributed_iterator(int64_t id) const;

 private:
  std::map<int64_t, std::shared_ptr<data::Dataset>> datasets_;
  std::map<int64_t, std::shared_ptr<data::Iterator>> iterators_;
  std::map<int64_t, std::shared_ptr<DistributedIterator>> distributed_;
  int64_t next_ = 1;
};

/// The bytes of an argument, inside the message that contains it.
struct ArgumentBytes {
  std::string_view bytes = {};
  void fields(net::FieldVisitor& visit) { visit.view("bytes", bytes); }
};

/// A function to run, as it is sent.
struct ClosureCall {
  uint64_t id = 0;        // of the worker's calls
  uint64_t function = 0;  // Closure::number
  uint64_t settled = 0;   // UpdateOrigin::settled
  std::string label = {};
  std::vector<ArgumentBytes> arguments = {};

  void fields(net::FieldVisitor& visit) {
    visit("id", id)("function", function)("settled", settled)("label", label);
    visit("arguments", arguments);
  }
};

/// A call whose arguments are being read.
struct RemoteCall {
  std::span<const ArgumentBytes> arguments;  // arguments that have not been read yet
  const WorkerResources& resources;

  /// Returns the next argument. Throws  DataLossError when there is none.
  std::string_view next() {
    if (arguments.empty()) throw DataLossError("a remote call has too few arguments");
    const std::string_view bytes = arguments.front().bytes;
    arguments = arguments.subspan(1);
    return bytes;
  }
};

struct Registration {
  std::string kind;                                  // "function" or "dataset"
  std::string name;                                  // chosen by the user
  std::string signature;                             // of a function, as the compiler writes it
  std::function<std::string(RemoteCall&)> run = {};  // gives the result's bytes
  std::function<data::Dataset(const InputContext&)> make_data = {};  // makes a dataset

  /// Returns `function "train_step"`.
  std::string describe() const { return kind + " \"" + name + "\""; }
};

using RegistrationPtr = std::shared_ptr<const Registration>;

/// Registered functions of a process. Thread-safe.
class Registry {
 public:
  /// Throws  AlreadyExistsError for a name that is taken; InvalidArgumentError for an empty one.
  void add(RegistrationPtr registration);
  void remove(const RegistrationPtr& registration);
  /// Registers datasets of functions without captures, in every process before main.
  void add_type(RegistrationPtr registration);

  /// Throws  InvalidArgumentError that lists the registered names.
  RegistrationPtr find(const std::string& kind, const std::string& name) const;
  /// Returns kind, name and signature in the order of registration, which processes compare.
  std::vector<std::string> list() const;

 private:
  mutable std::mutex mutex_;  // guards the rest
  std::vector<RegistrationPtr> by_order_;
  // a name with several entries is ambiguous
  std::map<std::string, std::vector<RegistrationPtr>> by_type_;
};

/// The registry of this process.
Registry& registry();

/// Compares registrations; a worker may have more than the coordinator.
/// Throws  InvalidArgumentError that shows the first difference and names the worker.
void check_same_registrations(const std::vector<std::string>& coordinators,
                              const std::vector<std::string>& workers, const std::string& worker);

/// Keeps a function registered while it lives.
class RegistrationHandle {
 public:
  explicit RegistrationHandle(RegistrationPtr registration) : registration_(registration) {
    registry().add(std::move(registration));
  }
  ~RegistrationHandle() { registry().remove(registration_); }
  RegistrationHandle(const RegistrationHandle&) = delete;
  RegistrationHandle& operator=(const RegistrationHandle&) = delete;
  const std::string& name() const { return registration_->name; }

 private:
  RegistrationPtr registration_;
};

}  // namespace distribute::coordinator_internal
