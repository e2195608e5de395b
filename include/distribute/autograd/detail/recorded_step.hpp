#pragma once
/// A replica's step as a CUDA graph, with what every launch of it does beside on the host.

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

/// Which of the replicas that step together records: the variables' copies with its index are its
/// own.
struct RecordedReplica {
  int index = 0, count = 1;
};

/// Records a step and launches it. The GPU's variables that the step reads or writes are read and
/// written where they are, so they must stay there between launches; what changes from launch to
/// launch comes out of numbers(). One thread at a time.
class RecordedStep {
 public:
  /// Calls `step`, whose work on `device` is recorded and not run. Afterwards all variables have
  /// the values and the places that they had before, also when it throws.
  /// Throws  what `step` throws; FailedPreconditionError when it reads a value of the GPU on the
  ///         host, makes variables, changes variables in host memory, or does anything else that
  ///         happens on the host at every call.
  RecordedStep(Device device, const std::function<void()>& step, RecordedReplica replica = {});
  ~RecordedStep();
  RecordedStep(const RecordedStep&) = delete;
  RecordedStep& operator=(const RecordedStep&) = delete;

  /// Why the graph does not fit the variables any more, so that it has to be recorded again; empty:
  /// it does.
  std::string outdated() const;
  /// True when something that the graph holds was aborted, such as a sum over replicas.
  bool is_lost() const;
  /// True when the value of a variable is also held elsewhere and may not change: such a step is
  /// run without the graph, which gives the variable new memory.
  bool writes_what_others_hold() const;
  /// Writes the numbers, queues the graph, and does what the step counts.
  void launch();

  /// What the calling thread records, for code that takes part in a step; null: nothing.
  static RecordedStep* current();
  /// While it lives, the thread's recording does not notice which variables are read: for numbers
  /// that each launch asks for anew.
  class [[nodiscard]] Pause {
   public:
    Pause();
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    RecordedStep* paused_;
  };

  /// GPU memory for kernels to read, in which every launch finds what `next` gave before it.
  template <typename T>
  requires std::is_trivially_copyable_v<T>
  const T* numbers(std::function<T()> next) {
    return static_cast<const T*>(add_numbers(
        sizeof(T), [next = std::move(next)](void* to) { *static_cast<T*>(to) = next(); }));
  }
  void after_launch(std::function<void()> work) { after_.push_back(std::move(work)); }
  /// Memory of others that the graph uses lives as long as the step.
  void keep(std::shared_ptr<const void> memory) { kept_.push_back(std::move(memory)); }
  /// For those whose work becomes part of the graph, and may have to end before it.
  const std::shared_ptr<CudaGraphLife>& graph_life() const { return graph_life_; }
  /// The step is about to read or write the variable.
  void notice(const std::shared_ptr<VariableImpl>& variable);
  /// Whether `value`, which was taken out of the variable, may be written in place.
  /// Throws  FailedPreconditionError when it is in host memory or also held elsewhere.
  bool may_write(VariableImpl& variable, const Tensor& value);

 private:
  /// A variable that the step uses, and where its value is.
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

/// Throws  FailedPreconditionError while the calling thread records a step: `what`, such as "a
///         variable is made", happens once, and not at every launch.
void refuse_in_recording(const std::string& what);

}  // namespace autograd_internal

}  // namespace distribute
