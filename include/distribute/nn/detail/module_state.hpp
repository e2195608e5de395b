#pragma once
/// What a module keeps at one address, for module.ipp and module_penalties.ipp.

#include <distribute/base/process_state.hpp>
#include <distribute/nn/detail/module_names.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/nn/regularizers.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace distribute::nn {

/// State whose address does not change when the module moves, and which replica threads share
/// during the build.
struct Module::State {
  explicit State(Module& module)
      : self(&module),
        names(nn_internal::ModuleNames::of_this_thread()),
        place(names->add(module)) {}
  ~State() {
    if (!named) names->remove(place);
  }

  Module* self;
  State* parent = nullptr;  // of the module that this one is a part of
  const std::shared_ptr<nn_internal::ModuleNames> names;
  uint64_t place;  // in the order of `names`
  std::atomic<bool> named{false};
  std::vector<NamedVariable> shared;  // weights of parts, listed as own ones
  bool was_given_a_name = false;      // and not only a number

  std::atomic<bool> built{false};
  std::atomic<bool> called{false};
  std::mutex mutex;  // guards building (threads of different contexts), `input` and `output`
  InputSpec input;   // of the first call
  Shape output;      // of the first call, for summary()
  std::vector<uint64_t> frozen;  // weights by their ids

  Regularizer activity_regularizer;
  std::mutex penalties_mutex;                    // guards `penalties`
  std::map<int, std::vector<Tensor>> penalties;  // on results of each replica's last call
};

namespace nn_internal {

/// Whether a module of this process penalizes its results; without one, calls need not look for
/// penalties.
struct AnyPenalty {
  std::atomic<bool> exists{false};
};

}  // namespace nn_internal

/// A module's call while it runs. The outermost one of a thread forgets the penalties of the call
/// before.
class Module::RunningCall {
 public:
  explicit RunningCall(Module& module) {
    if (depth()++ == 0 && in_process<nn_internal::AnyPenalty>().exists) module.forget_penalties();
  }
  RunningCall(const RunningCall&) = delete;
  ~RunningCall() { --depth(); }

 private:
  static int& depth() {
    return base_internal::in_thread_context<base_internal::ContextPlace{5, 0}, int>();
  }
};

}  // namespace distribute::nn
