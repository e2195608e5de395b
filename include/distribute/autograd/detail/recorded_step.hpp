#pragma once
/// A replica's step as a CUDA graph, together with the host's part of each launch.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/pimpl.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace distribute {

class CudaGraph;
class CudaGraphLife;
class Variable;
class VariableImpl;

/// Says which of the replicas that step together is recorded: it owns the variables' copies with
/// its index.
struct RecordedReplica {
  int index = 0, count = 1;
};

/// Records a step and launches it. Used by one thread at a time.
///
/// Invariants between launches:
/// 1. The GPU's variables that the step reads or writes stay at the addresses that they had when
///    the step was recorded. outdated() says when one has moved.
/// 2. What differs from launch to launch (learning rates, seeds, step counters) is read from
///    numbers(), which launch() writes before it queues the graph.
/// 3. All memory that the graph uses lives as long as this object: it owns the memory, or keep()
///    holds it.
class RecordedStep {
 public:
  /// Calls `step` once; its work on `device` is recorded and not run. Afterwards, and also when it
  /// throws, all variables have the values and addresses that they had before.
  /// Throws  what `step` throws; FailedPreconditionError when it reads a value of the GPU on the
  ///         host, makes variables, changes variables in host memory, or does anything else that
  ///         happens on the host at every call.
  RecordedStep(Device device, const std::function<void()>& step, RecordedReplica replica = {});
  ~RecordedStep();
  RecordedStep(const RecordedStep&) = delete;
  RecordedStep& operator=(const RecordedStep&) = delete;

  /// Says why the graph no longer fits the variables, so that it must be recorded again; empty when
  /// it fits.
  std::string outdated() const;
  /// True when something that the graph holds was aborted, such as a sum over replicas.
  bool is_lost() const;
  /// True when another handle shares the value of a variable that the step would write. Such a step
  /// must run without the graph, which gives the variable new memory.
  bool writes_what_others_hold() const;
  /// Writes the numbers, queues the graph, and counts the step on the host.
  void launch();

  /// The recording of the calling thread, for code that takes part in a step; null when the thread
  /// records nothing.
  static RecordedStep* current();
  /// While it lives, the thread's recording does not notice which variables are read. It is used
  /// for numbers that each launch asks for anew.
  class [[nodiscard]] Pause {
   public:
    Pause();
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    RecordedStep* paused_;
  };

  /// Gives GPU memory for kernels to read. Each launch first writes into it what `next` returns.
  template <typename T>
  requires std::is_trivially_copyable_v<T>
  const T* numbers(std::function<T()> next) {
    return static_cast<const T*>(add_numbers(
        sizeof(T), [next = std::move(next)](void* to) { *static_cast<T*>(to) = next(); }));
  }
  void after_launch(std::function<void()> work) { after_.push_back(std::move(work)); }
  /// Keeps memory that the graph uses alive as long as the step.
  void keep(std::shared_ptr<const void> memory) { kept_.push_back(std::move(memory)); }
  /// Serves communicators whose work becomes part of the graph and which may have to end before it.
  const std::shared_ptr<CudaGraphLife>& graph_life() const { return graph_life_; }
  /// Tells the recording that the step is about to read or write the variable.
  void notice(const std::shared_ptr<VariableImpl>& variable);
  /// Whether `value`, which was taken out of the variable, may be written in place.
  /// Throws  FailedPreconditionError when it is in host memory or also held elsewhere.
  bool may_write(VariableImpl& variable, const Tensor& value);

 private:
  /// A variable that the step uses, and the address of its value.
  struct Place;
  const void* add_numbers(size_t bytes, std::function<void(void*)> write);
  Place* find(const VariableImpl& variable);
  void put_back();
  void restore();
  void write_numbers();

  Device device_;
  RecordedReplica replica_;
  std::shared_ptr<CudaGraphLife> graph_life_;
  Tensor numbers_;                      // on the GPU
  std::vector<uint64_t> next_numbers_;  // on the host
  std::vector<std::function<void()>> writers_, after_;
  std::vector<Place> places_;
  std::vector<std::shared_ptr<const void>> kept_;
  Pimpl<CudaGraph> graph_;
};

namespace autograd_internal {

/// Throws  FailedPreconditionError while the calling thread records a step. `what`, such as "a
///         variable is made", names an action that would happen once instead of at every launch.
void refuse_in_recording(const std::string& what);

}  // namespace autograd_internal

}  // namespace distribute
