#pragma once
/// hvd.elastic: state that survives changes of the ranks, and the function that trains with it.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/collective/elastic_workers.hpp>
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

using distribute::HostsUpdatedInterrupt;

/// The values that all ranks of an elastic job must have equal. Source
/// horovod.common.elastic.State
class State {
 public:
  virtual ~State() = default;

  /// Keeps a copy of all values in memory.
  virtual void save() = 0;
  /// Restores the last copy that save() or sync() kept.
  virtual void restore() = 0;
  /// Gives all ranks the state of source(), and keeps a copy.
  virtual void sync() = 0;

  /// Calls save(), then check_host_updates(). The longer the distance between commits, the more
  /// steps are repeated after a loss.
  void commit();
  /// Checks whether ranks change.
  /// Throws  HostsUpdatedInterrupt on all ranks when one wants to join, or was told to leave.
  void check_host_updates();
  /// Registers functions that are called when the ranks have changed, for instance to adapt
  /// learning rates.
  void register_reset_callbacks(std::vector<std::function<void()>> callbacks);
  void on_reset();

  /// Returns the rank that has the newest state; 0 unless ranks have changed.
  int source() const;

 private:
  friend class StateInJob;
  std::vector<std::function<void()>> reset_callbacks_;
  std::shared_ptr<horovod_internal::ElasticJob> job_;
};

/// Connects the state with an elastic job while it lives. elastic::run() uses it.
class [[nodiscard]] StateInJob {
 public:
  StateInJob(State& state, std::shared_ptr<horovod_internal::ElasticJob> job);
  ~StateInJob();
  StateInJob(const StateInJob&) = delete;
  StateInJob& operator=(const StateInJob&) = delete;

 private:
  State& state_;
};

/// Refers to numbers and texts of the program, such as the number of the epoch, which must outlive
/// the state.
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

/// A state of a model, an optimizer, and what add() adds. The model's variables must exist; the
/// optimizer's slots are made.
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
  int reset_limit = -1;  // how often the ranks may change; -1: no limit
};

/// Calls `train` until it returns. The ranks meet again when one is lost; the remaining ranks then
/// go back to the last commit. They also meet at a commit when a rank joins or was told to leave by
/// SIGTERM. All ranks then take over the newest state, and `train` is called again.
/// Call hvd::init() first. The job is elastic if InitOptions::elastic or `distribute run --min-np`
/// says so; otherwise `train` is called once. After Left and TooLate this rank is out of the job,
/// as after hvd::shutdown().
/// Throws  errors of `train`, unless they come from the end of another rank; the other ranks treat
///         such an error as the end of this rank. UnavailableError when ranks change more often
///         than reset_limit, and when too few ranks are there in time.
ElasticEnd run_until_done(State& state, const std::function<void()>& train,
                          const RunOptions& options);

/// Makes a function that calls `train` with a state, as run_until_done() does:
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
