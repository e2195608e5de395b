#pragma once
/// hvd.elastic: state that survives changes of the ranks, and the function that runs with it.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/cluster/elastic_options.hpp>
#include <distribute/horovod/callbacks.hpp>

#include <concepts>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace distribute {
namespace nn {
class Module;
}
namespace optim {
class Optimizer;
}
namespace horovod_internal {
class ElasticJob;
}
}  // namespace distribute

namespace distribute::hvd::elastic {

/// Ranks want to join or to leave; thrown on all ranks alike. elastic::run() catches it.
/// Source  horovod.common.exceptions.HostsUpdatedInterrupt
class HostsUpdatedInterrupt : public AbortedError {
 public:
  HostsUpdatedInterrupt() : AbortedError("ranks of the job leave or join") {}
};

/// What all ranks of an elastic job must have equal. Source  horovod.common.elastic.State
class State {
 public:
  virtual ~State() = default;

  /// Keeps a copy of everything in memory.
  virtual void save() = 0;
  /// Restores the last copy that save() or sync() kept.
  virtual void restore() = 0;
  /// Gives all ranks the state of source(); keeps a copy.
  virtual void sync() = 0;

  /// save(), then check_host_updates(). The less often, the more steps are made again after a loss.
  void commit();
  /// Throws  HostsUpdatedInterrupt on all ranks when one wants to join, or was told to leave.
  void check_host_updates();
  /// To be called when the ranks have changed: for learning rates and the like.
  void register_reset_callbacks(std::vector<std::function<void()>> callbacks);
  void on_reset();

  /// The rank that has the newest state: 0 unless ranks have changed.
  int source() const;

 private:
  friend class StateInJob;
  std::vector<std::function<void()>> reset_callbacks_;
  std::shared_ptr<horovod_internal::ElasticJob> job_;
  std::function<bool()> told_to_leave_;
};

/// While it lives the state is that of an elastic job. Used by elastic::run().
class [[nodiscard]] StateInJob {
 public:
  StateInJob(State& state, std::shared_ptr<horovod_internal::ElasticJob> job,
             std::function<bool()> told_to_leave);
  ~StateInJob();
  StateInJob(const StateInJob&) = delete;
  StateInJob& operator=(const StateInJob&) = delete;

 private:
  State& state_;
};

/// Plain values and texts of the program, such as the number of the epoch; they must outlive it.
/// Source  horovod.common.elastic.ObjectState
class ObjectState : public State {
 public:
  template <PlainObject T>
  void add(const std::string& name, T& value) {
    add_field({name,
               [&value] { return std::string(reinterpret_cast<char*>(&value), sizeof value); },
               [&value](const std::string& b) { std::memcpy(&value, b.data(), sizeof value); }});
  }
  void add(const std::string& name, std::string& text) {
    add_field({name, [&text] { return text; }, [&text](const std::string& b) { text = b; }});
  }

  DISTRIBUTE_INLINE void save() override;
  DISTRIBUTE_INLINE void restore() override;
  DISTRIBUTE_INLINE void sync() override;

 private:
  struct Field {
    std::string name;
    std::function<std::string()> get;
    std::function<void(const std::string&)> set;
    std::string saved = {};
  };
  void add_field(Field field);

  std::vector<Field> fields_;
};

/// Model and optimizer, and what add() adds. The model's variables must exist; the optimizer's
/// slots are made.
/// Source  horovod.tensorflow.elastic.TensorFlowKerasState
class TensorFlowKerasState : public ObjectState {
 public:
  TensorFlowKerasState(const nn::Module& model, optim::Optimizer& optimizer);

  DISTRIBUTE_INLINE void save() override;
  DISTRIBUTE_INLINE void restore() override;
  DISTRIBUTE_INLINE void sync() override;

 private:
  std::vector<Variable> variables() const;

  const nn::Module& model_;
  optim::Optimizer& optimizer_;
  std::vector<Tensor> saved_;
};

using distribute::ElasticEnd;

struct RunOptions {      // options of run()
  int reset_limit = -1;  // how often the ranks may change; -1: any number
};

/// Calls `train` until it returns. The ranks meet again when one is lost (those that are left go
/// back to the last commit), and at a commit when one joins or was told to leave by SIGTERM: then
/// all take over the state of one that has the newest, and `train` is called again.
/// hvd::init() comes before; the job is elastic when InitOptions::elastic or `distribute run
/// --min-np` says so, otherwise `train` is called once. After Left and TooLate this rank is out of
/// the job, as after hvd::shutdown().
/// Throws  any error of `train` that is no other rank's end, which the others then take for this
///         rank's; UnavailableError beyond reset_limit, and when too few ranks are there in time.
/// Source  horovod.elastic.run
ElasticEnd run_until_done(State& state, const std::function<void()>& train,
                          const RunOptions& options);

/// A function that calls `train` with a state, as run_until_done() does:
///   auto train = hvd::elastic::run([&](auto& state) { ... state.commit(); ... });
///   if (train(state) == hvd::elastic::ElasticEnd::Left) return 143;
template <typename Train>
auto run(Train train, RunOptions options = {}) {
  return [train = std::move(train), options](std::derived_from<State> auto& state) mutable {
    return run_until_done(
        state, [&] { train(state); }, options);
  };
}

}  // namespace distribute::hvd::elastic
