#pragma once
/// Access of a process to the variables on parameter servers.

#include <distribute/autograd/detail/gradient_placer.hpp>
#include <distribute/base/config.hpp>
#include <distribute/parameter_server/detail/push.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/strategy/parameter_server_strategy.hpp>
#include <distribute/tensor/tensor.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace distribute {

namespace parameter_server {
class Client;
class InitialValue;
struct VariableSpec;
}  // namespace parameter_server

class StagingMemory;

namespace strategy_internal {

/// Options of updates, equal on all workers.
struct PushOptions {
  std::optional<SyncReplicas> sync_replicas = {};
  int64_t max_staleness = -1;  // steps that a gradient may be behind; -1: no limit
};

/// Access of a process to the variables on servers. Thread-safe. Outlives the strategy as long as a
/// variable does.
/// 1. Reads inside a step see one pull of all variables that the last step read.
/// 2. A variable that this process has written is read anew.
/// 3. While an Apart lives nothing is pushed.
class ServerAccess final : public GradientPlacer {
 public:
  /// With `creates` this process makes the variables, else it waits for them. `client` is null on a
  /// server, whose process has only the initial values. `staging` is memory of this process's
  /// replicas, null if none is on a GPU.
  ServerAccess(std::shared_ptr<parameter_server::Client> client, bool creates,
               double timeout_seconds, const PushOptions& options,
               std::shared_ptr<StagingMemory> staging = nullptr);

  /// Throws  FailedPreconditionError on a parameter server.
  parameter_server::Client& client() const;
  bool has_client() const { return client_ != nullptr; }
  /// Whether the calling thread may create variables: the chief, and closures of a coordinator.
  bool may_create() const;
  bool creates() const { return creates_; }
  const std::shared_ptr<StagingMemory>& staging() const { return staging_; }
  /// Whether the calling thread runs a coordinator's closure.
  static bool in_closure();
  /// Whether a variable was created that the servers did not have yet.
  bool has_created() const { return has_created_; }
  /// Returns the client's number of a variable, created here or by the chief.
  /// Blocks  until it exists.
  /// Throws  DeadlineExceededError; what Client::attach throws.
  int64_t find(const parameter_server::VariableSpec& spec,
               const parameter_server::InitialValue& initial_value);

  Tensor read(int64_t variable);
  /// Returns the value if the step has it, or reads it as the last step did; else rows alone are
  /// wanted, and the tensor is empty.
  Tensor value_if_read(int64_t variable);
  void assign(int64_t variable, const Tensor& value);
  void assign_add(int64_t variable, const Tensor& delta);
  /// Sends the gradients, already summed over this process's replicas, and starts the next pull.
  /// Returns the number of the step, 0 without a counter, -1 if the gradient was too old
  /// (PushOptions::max_staleness).
  int64_t push(std::span<const VariableUpdate> updates, const UpdateKernel& kernel,
               const Variable& counter);
  /// Returns memory that the variable's server can read too, if there is some.
  DISTRIBUTE_INLINE std::optional<BufferOffer> place(const Variable& variable) override;

  /// Marks a step. Steps may be nested: the outermost counts.
  class [[nodiscard]] Step {
   public:
    explicit Step(ServerAccess& link);
    ~Step();
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    ServerAccess& link_;
  };
  /// Attributes writes to a coordinator's function until the end of the scope.
  class [[nodiscard]] Function {
   public:
    Function(ServerAccess& link, const parameter_server::UpdateOrigin& origin);
    ~Function();
    Function(const Function&) = delete;
    Function& operator=(const Function&) = delete;

   private:
    ServerAccess& link_;
  };
  /// Lets the calling thread create variables.
  class [[nodiscard]] Creation {
   public:
    Creation();
    ~Creation();
    Creation(const Creation&) = delete;
    Creation& operator=(const Creation&) = delete;
  };

  /// Keeps reads and writes local while it lives: values are read from the servers once and then
  /// kept here, as are values that are written. Pushes are errors.
  class [[nodiscard]] Apart {
   public:
    /// Throws  FailedPreconditionError inside another Apart.
    explicit Apart(std::shared_ptr<ServerAccess> link);
    ~Apart();
    Apart(const Apart&) = delete;
    Apart& operator=(const Apart&) = delete;

   private:
    const std::shared_ptr<ServerAccess> link_;
  };
  bool is_apart() const;

 private:
  Tensor* value_apart(int64_t variable);
  Tensor value_in_step(int64_t variable);
  int64_t find_created(const parameter_server::VariableSpec& spec);
  int64_t find_or_create(const parameter_server::VariableSpec& spec,
                         const parameter_server::InitialValue& initial_value);
  void forget(int64_t variable);
  int64_t token(int64_t counter);
  int64_t step_of_weights(int64_t counter);
  parameter_server::UpdateOrigin next_origin();

  const std::shared_ptr<parameter_server::Client> client_;
  const bool creates_;
  const double timeout_seconds_;
  const PushOptions options_;
  const std::shared_ptr<StagingMemory> staging_;
  std::atomic<bool> has_created_{false};
  std::atomic<int64_t> token_{-1};  // of the last synchronous push; -1: none yet

  mutable std::mutex mutex_;                    // guards the rest
  int steps_ = 0;                               // number of open steps
  parameter_server::UpdateOrigin origin_ = {};  // of the next update
  std::map<int64_t, Tensor> values_;
  // values by variable; unset: reads use the servers' values
  std::optional<std::map<int64_t, Tensor>> apart_;
  std::vector<int64_t> expected_;  // variables that the last step read
  std::set<int64_t> touched_;      // variables that this step has read
  std::set<int64_t> counters_;     // with max_staleness: pulled with every pull, to tell its age
};

}  // namespace strategy_internal
}  // namespace distribute
