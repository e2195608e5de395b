#pragma once
/// Broadcasts of variables and objects, and the callbacks of fit that use them.

#include <distribute/autograd/trackable.hpp>
#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/horovod/basics.hpp>
#include <distribute/horovod/distributed_optimizer.hpp>
#include <distribute/train/callback.hpp>
#include <distribute/train/model.hpp>

#include <concepts>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace distribute::hvd {

/// Gives every rank the values of `root_rank`. All ranks pass the same variables, which are
/// identified by their position in the list.
/// Throws  what Handle::wait() throws, with the variable's name when shapes differ.
/// Source  horovod.broadcast_variables
void broadcast_variables(const std::vector<Variable>& variables, int root_rank,
                         const ProcessSet& process_set = {});

/// All variables of an object, such as a model, and of its parts, in its order. For an optimizer
/// these include step count and slots; build() it first when ranks may have made different numbers
/// of steps.
std::vector<Variable> variables_of(const Trackable& object);

/// Gives the bytes of `root_rank` to every rank; the bytes of other ranks are ignored.
/// Source  horovod.broadcast_object
std::string broadcast_object(const std::string& bytes, int root_rank, const std::string& name = {},
                             const ProcessSet& process_set = {});
/// Gives the bytes of all ranks, in rank order.
/// Source  horovod.allgather_object
std::vector<std::string> allgather_object(const std::string& bytes, const std::string& name = {},
                                          const ProcessSet& process_set = {});

/// A value that can be sent as its bytes.
template <typename T>
concept PlainObject =
    std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::is_array_v<T>;

template <PlainObject T>
T broadcast_object(const T& value, int root_rank, const std::string& name = {},
                   const ProcessSet& process_set = {}) {  // gives every rank the value of root_rank
  const std::string mine(reinterpret_cast<const char*>(&value), sizeof value);
  const std::string bytes = broadcast_object(mine, root_rank, name, process_set);
  T result = value;
  std::memcpy(&result, bytes.data(), sizeof result);
  return result;
}

/// Makes the function for train::CompileOptions that reduces gradients over the ranks. `optimizer`
/// outlives the model.
///
///   hvd::DistributedOptimizer distributed(sgd);
///   model.compile({.optimizer = sgd, .loss = ..., .minimize = hvd::minimizer(distributed)});
///
/// Source  model.compile(optimizer=hvd.DistributedOptimizer(opt)) of horovod.keras
train::MinimizeFunction minimizer(DistributedOptimizer& optimizer);

/// Gives all ranks the weights and the optimizer's state of `root_rank`. This happens before the
/// first step if the variables exist, else after it, as layers make their variables in the first
/// step.
/// Source  horovod.keras.callbacks.BroadcastGlobalVariablesCallback
class BroadcastGlobalVariablesCallback : public train::Callback {
 public:
  explicit BroadcastGlobalVariablesCallback(int root_rank) : root_rank_(root_rank) {}
  DISTRIBUTE_INLINE void on_train_begin(train::Logs& logs) override;
  DISTRIBUTE_INLINE void on_train_batch_end(int64_t batch, train::Logs& logs) override;
  bool wants_batch_metrics() const override { return false; }

 private:
  void broadcast();
  int root_rank_;
  bool done_ = false;
};

/// Replaces each figure of an epoch by its mean over the ranks, in the order of the names, so that
/// later callbacks, such as ModelCheckpoint, see the same on all ranks.
/// Source  horovod.keras.callbacks.MetricAverageCallback
class MetricAverageCallback : public train::Callback {
 public:
  DISTRIBUTE_INLINE void on_epoch_end(int64_t epoch, train::Logs& logs) override;
  bool wants_batch_metrics() const override { return false; }
};

/// Holds the options of LearningRateScheduleCallback.
struct LearningRateScheduleOptions {
  double initial_lr = 0;                        // the multiplier multiplies it
  int64_t start_epoch = 0;                      // first epoch in which the rate is set
  std::optional<int64_t> end_epoch = {};        // first epoch in which it is no longer set
  bool staircase = true;                        // sets it once an epoch; false: in every step
  std::optional<int64_t> steps_per_epoch = {};  // needed without staircase if fit does not know it
};

/// Sets the rate to initial_lr * multiplier(epoch); without staircase the epoch is a fraction. The
/// logs of an epoch get the rate as "lr". There is no momentum correction as in Horovod, since the
/// velocity of Keras's formula contains the rate already.
/// Throws  InvalidArgumentError for an initial_lr that is not positive and, without staircase, when
///         the number of steps of an epoch is unknown; FailedPreconditionError, before the first
///         step, for an optimizer with a schedule.
/// Source  horovod.keras.callbacks.LearningRateScheduleCallback
class LearningRateScheduleCallback : public train::Callback {
 public:
  using Options = LearningRateScheduleOptions;
  LearningRateScheduleCallback(std::function<double(double epoch)> multiplier,
                               const Options& options);
  LearningRateScheduleCallback(double multiplier, const Options& options)
      : LearningRateScheduleCallback([multiplier](double) { return multiplier; }, options) {}

  DISTRIBUTE_INLINE void on_train_begin(train::Logs& logs) override;
  DISTRIBUTE_INLINE void on_epoch_begin(int64_t epoch, train::Logs& logs) override;
  DISTRIBUTE_INLINE void on_train_batch_begin(int64_t batch, train::Logs& logs) override;
  DISTRIBUTE_INLINE void on_epoch_end(int64_t epoch, train::Logs& logs) override;
  bool wants_batch_metrics() const override { return false; }

 protected:
  double steps_per_epoch() const { return double(*options_.steps_per_epoch); }
  virtual double multiplier(double epoch) const { return multiplier_(epoch); }

 private:
  void set_rate(double epoch);

  std::function<double(double)> multiplier_;
  Options options_;
  int64_t epoch_ = 0;
};

/// Holds the options of LearningRateWarmupCallback.
struct LearningRateWarmupOptions {
  double initial_lr = 0;  // the rate after the warm-up
  int64_t warmup_epochs = 5;
  std::optional<int64_t> steps_per_epoch = {};  // needed if fit does not know it
  bool verbose = false;                         // rank 0 prints when the warm-up is done
};

/// Raises the rate in every step from initial_lr / size to initial_lr (Goyal et al. 2017).
/// Throws  what LearningRateScheduleCallback throws; InvalidArgumentError for fewer than one epoch.
/// Source  horovod.keras.callbacks.LearningRateWarmupCallback
class LearningRateWarmupCallback : public LearningRateScheduleCallback {
 public:
  explicit LearningRateWarmupCallback(const LearningRateWarmupOptions& options);
  DISTRIBUTE_INLINE void on_epoch_end(int64_t epoch, train::Logs& logs) override;

 protected:
  DISTRIBUTE_INLINE double multiplier(double epoch) const override;

 private:
  LearningRateWarmupOptions options_;
};

}  // namespace distribute::hvd
