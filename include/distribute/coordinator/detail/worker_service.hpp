#pragma once
/// The worker's side: runs the coordinator's functions on the thread that serves.

#include <distribute/base/cancellation.hpp>
#include <distribute/base/config.hpp>
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
  Strategy* strategy = nullptr;         // whose scope they run in; null: none
  /// Calls a function in the way that the strategy wants; empty: just so. What the function has
  /// pushed, under its origin, must have arrived when it returns.
  std::function<void(const parameter_server::UpdateOrigin&, const std::function<void()>&)>
      run_closure = {};
};

/// What the coordinator says when it connects.
struct Greeting {
  uint64_t session = 0;     // of the coordinator's process
  uint64_t generation = 0;  // counts the connections to this worker
  int32_t worker = 0, num_workers = 1;
  std::vector<std::string> registrations;

  void fields(net::FieldVisitor& visit) {
    visit("session", session)("generation", generation)("worker", worker);
    visit("num_workers", num_workers)("registrations", registrations);
  }
};

/// How a dataset or iterator is made; the bytes of WorkerResource::recipe.
struct Recipe {
  enum class Kind : uint8_t { Dataset, Iterator, DistributedIterator };
  Kind kind = Kind::Dataset;
  std::string name;     // of the registered function
  uint64_t serial = 0;  // tells the resources of one coordinator apart

  void fields(net::FieldVisitor& visit) {
    visit("kind", kind, Kind::DistributedIterator)("name", name)("serial", serial);
  }
};

/// It runs one function at a time. A new greeting cancels what an earlier one left behind, and
/// drops its datasets. Thread-safe.
class WorkerService {
 public:
  explicit WorkerService(WorkerServiceOptions options);

  /// Methods "hello", "run", "make", "release", "cancel" and "finish"; gives the answer's bytes.
  /// Blocks  until the function has run, for "run" and "make".
  /// Throws  InvalidArgumentError for registrations that differ ("hello") and unknown methods;
  ///         CancelledError when the service ends first.
  std::string handle(const std::string& method, std::string_view body);

  /// Runs what comes, on this thread, until "finish" or stop().
  /// Throws  the error that stop() was given.
  void serve();
  /// Asks the function that runs to end; the coordinator is gone.
  void cancel_running();
  /// Ends serve(), after the function that runs.
  void stop(std::exception_ptr error = nullptr);
  bool greeted() const;

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
  mutable std::mutex mutex_;  // guards the rest but what the serving thread alone uses
  std::condition_variable changed_;
  Greeting greeting_;
  bool greeted_ = false, stopped_ = false;
  std::exception_ptr error_;
  uint64_t cancelled_up_to_ = 0;  // functions that this coordinator does not want any more
  Job* waiting_ = nullptr;
  Job* running_ = nullptr;
  CancellationFlag cancelled_{false};  // the running function's
  WorkerResources resources_;  // used with the mutex, or by a function while running_ is set
};

}  // namespace distribute::coordinator_internal
