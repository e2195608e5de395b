#pragma once
/// The worker's side: runs the coordinator's functions on the thread that called serve().

#include <distribute/base/config.hpp>
#include <distribute/base/threads.hpp>
#include <distribute/coordinator/detail/outcome.hpp>
#include <distribute/coordinator/detail/registry.hpp>
#include <distribute/parameter_server/detail/push.hpp>

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace distribute {
class Strategy;
}

namespace distribute::coordinator_internal {

struct WorkerServiceOptions {
  std::string name = "worker 0";        // for errors
  const Registry* functions = nullptr;  // null: this process's
  Strategy* strategy = nullptr;         // functions run in its scope; null: in no scope
  /// Calls a function as the strategy requires; empty: directly. The function's updates, sent under
  /// its origin, must have arrived when it returns.
  std::function<void(const parameter_server::UpdateOrigin&, const std::function<void()>&)>
      run_closure = {};
};

/// First message of a coordinator that connects.
struct Greeting {
  uint64_t session = 0;     // of the coordinator's process
  uint64_t generation = 0;  // number of the connection to this worker
  int32_t worker = 0, num_workers = 1;
  std::vector<std::string> registrations;

  void fields(net::FieldVisitor& visit) {
    visit("session", session)("generation", generation)("worker", worker);
    visit("num_workers", num_workers)("registrations", registrations);
  }
};

/// Describes how a dataset or iterator is made; the bytes of WorkerResource::recipe.
struct Recipe {
  enum class Kind : uint8_t { Dataset, Iterator, DistributedIterator };
  Kind kind = Kind::Dataset;
  std::string name;     // of the registered function
  uint64_t serial = 0;  // distinguishes the resources of one coordinator

  void fields(net::FieldVisitor& visit) {
    visit("kind", kind, Kind::DistributedIterator)("name", name)("serial", serial);
  }
};

/// Runs the coordinator's functions. Thread-safe.
/// 1. It runs one function at a time.
/// 2. A new greeting cancels the functions of an earlier one, and drops its datasets.
class WorkerService {
 public:
  explicit WorkerService(WorkerServiceOptions options);

  /// Handles methods "hello", "run", "make", "release", "cancel" and "finish"; returns the answer's
  /// bytes.
  /// Blocks  until the function has run, for "run" and "make".
  /// Throws  InvalidArgumentError for registrations that differ ("hello") and unknown methods;
  ///          CancelledError when the service ends first.
  std::string handle(const std::string& method, std::string_view body);

  /// Runs functions on this thread until "finish" or stop().
  /// Throws  the error that stop() was given.
  void serve();
  /// Asks the running function to end, as the coordinator is lost.
  void cancel_running();
  /// Ends serve(), after the running function.
  void stop(std::exception_ptr error = nullptr);
  bool greeted() const;
  /// Returns whether "finish" or stop() has come.
  bool stopped() const;

 private:
  struct Job {
    ClosureCall call;
    bool makes = false;  // a resource
    std::string answer = {};
    bool done = false;
  };

  std::string hello(std::string_view body);
  std::string run(std::string_view body, bool makes);
  std::string release(std::string_view body);
  std::string cancel(std::string_view body);
  void run_job(Job& job);
  std::string call(const ClosureCall& call);
  std::string make(const ClosureCall& call);
  int64_t make_dataset(const Recipe& recipe, const std::string& name);
  uint64_t first_pass(const Recipe& recipe) const;
  const Registry& functions() const;

  const WorkerServiceOptions options_;
  mutable std::mutex mutex_;  // guards the members below, except those of the serving thread
  std::condition_variable changed_;
  Greeting greeting_;
  bool greeted_ = false, stopped_ = false;
  std::exception_ptr error_;
  uint64_t cancelled_up_to_ = 0;  // functions below it are cancelled by this coordinator
  Job* waiting_ = nullptr;
  Job* running_ = nullptr;
  CancellationFlag cancelled_{false};  // of the running function
  WorkerResources resources_;  // used with the mutex, or by a function while running_ is set
};

}  // namespace distribute::coordinator_internal
