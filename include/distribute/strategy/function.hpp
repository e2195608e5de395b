#pragma once
/// A step that is recorded as a CUDA graph once for each shape of its arguments.

#include <distribute/base/config.hpp>
#include <distribute/data/batch.hpp>
#include <distribute/replica/detail/meeting.hpp>
#include <distribute/tensor/tensor.hpp>

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace distribute {

struct FunctionOptions {  // options of Function
  /// Number of ordinary calls for each shape of arguments before recording, in which kernels are
  /// compiled and slots made.
  int plain_calls = 2;
};

namespace strategy_internal {

/// A function of all tensors of its arguments, in order.
using FunctionBody = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

/// The recorded steps of a Function, shared by its copies. The replicas of a process call it
/// together, each from its thread, and meet to agree on what to do.
class RecordedFunction {
 public:
  explicit RecordedFunction(FunctionOptions options);
  ~RecordedFunction();
  RecordedFunction(const RecordedFunction&) = delete;

  std::vector<Tensor> call(const std::vector<Tensor>& arguments, const FunctionBody& body);
  int64_t launches() const { return launches_; }
  const std::string& problem() const { return problem_; }

 private:
  enum class Action { Plain, Record, Launch };
  struct Part;
  struct Graph;
  struct Turn;
  using Turns = replica_internal::Meeting<Turn>;
  void decide(Turns turns);
  void settle(Turns turns);
  Action next_action(Graph& graph);
  Graph& graph_for(Turns turns);
  void record(Turn& turn, const FunctionBody& body) const;
  static std::vector<Tensor> launch(Part& part, const std::vector<Tensor>& arguments);
  void count_failure(const std::string& why);
  void tell(const std::string& why);

  FunctionOptions options_;
  std::vector<std::unique_ptr<Graph>> graphs_;  // the one used last is at the end
  std::string problem_;                         // why the last call was not recorded
  bool has_told_ = false, has_given_up_ = false;
  int64_t launches_ = 0;
  int failures_ = 0;  // recordings in a row that could not be used
};

/// append_tensors() lists the tensors of an argument; with_tensors() makes an argument of the same
/// form from others.
inline void append_tensors(const Tensor& value, std::vector<Tensor>& all) { all.push_back(value); }
void append_tensors(const std::vector<Tensor>& value, std::vector<Tensor>& all);
void append_tensors(const data::Batch& value, std::vector<Tensor>& all);
inline Tensor with_tensors(const Tensor&, const Tensor*& next) { return *next++; }
std::vector<Tensor> with_tensors(const std::vector<Tensor>& value, const Tensor*& next);
data::Batch with_tensors(data::Batch value, const Tensor*& next);

}  // namespace strategy_internal

/// Argument of a Function: a tensor, several tensors, or a batch.
template <typename T>
concept FunctionArgument = requires(const T& value, std::vector<Tensor>& all, const Tensor*& next) {
  strategy_internal::append_tensors(value, all);
  { strategy_internal::with_tensors(value, next) } -> std::convertible_to<T>;
};

/// Result of a Function: a tensor, several tensors, or void.
template <typename T>
concept FunctionResult =
    std::is_void_v<T> || std::same_as<T, Tensor> || std::same_as<T, std::vector<Tensor>>;

/// Records a training step, such as strategy.run() takes, as a CUDA graph. This needs a replica
/// that is the only one and on a GPU, or the GPUs of one process whose gradients NCCL sums. The
/// third call with arguments of a shape is recorded as a CUDA graph for each replica, which later
/// calls launch: on the host then only the counters of optimizers and dropout layers are updated
/// and the results copied. In other cases, and if the step of one replica cannot be recorded (it
/// reads a value of the GPU, scales a loss), every call of all replicas is an ordinary one; one
/// line of the log gives the reason. Copies share the graphs. All replicas call it the same number
/// of times, each from its own thread. Objects that the step uses must outlive the function.
/// Source  tf.function
template <typename Fn>
class Function {
 public:
  explicit Function(Fn fn, FunctionOptions options = {})
      : fn_(std::move(fn)),
        state_(std::make_shared<strategy_internal::RecordedFunction>(options)) {}

  template <FunctionArgument... Args>
  requires std::invocable<Fn&, const Args&...> &&
      FunctionResult<std::decay_t<std::invoke_result_t<Fn&, const Args&...>>>
  auto operator()(const Args&... args) const {
    using Result = std::decay_t<std::invoke_result_t<Fn&, const Args&...>>;
    std::vector<Tensor> tensors;
    (strategy_internal::append_tensors(args, tensors), ...);
    const auto body = [&](std::span<const Tensor> inputs) -> std::vector<Tensor> {
      [[maybe_unused]] const Tensor* next = inputs.data();  // a call may have no arguments
      const std::tuple<Args...> own{strategy_internal::with_tensors(args, next)...};
      if constexpr (std::is_void_v<Result>) {
        std::apply(fn_, own);
        return {};
      } else {
        std::vector<Tensor> results;
        strategy_internal::append_tensors(std::apply(fn_, own), results);
        return results;
      }
    };
    const std::vector<Tensor> results = state_->call(tensors, body);
    if constexpr (std::same_as<Result, Tensor>) return results[0];
    if constexpr (std::same_as<Result, std::vector<Tensor>>) return results;
  }

  /// Returns the number of calls that launched a graph.
  int64_t launches() const { return state_->launches(); }
  /// Returns why the last call could not be recorded; empty if it could.
  const std::string& problem() const { return state_->problem(); }

 private:
  mutable Fn fn_;
  std::shared_ptr<strategy_internal::RecordedFunction> state_;
};

/// Makes a Function: `auto train_step = function([&](const data::Batch& batch) { ... return loss;
/// });`
/// Source  tf.function
template <typename Fn>
Function<std::decay_t<Fn>> function(Fn&& fn, FunctionOptions options = {}) {
  return Function<std::decay_t<Fn>>(std::forward<Fn>(fn), options);
}

}  // namespace distribute
