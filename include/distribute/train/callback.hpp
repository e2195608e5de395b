#pragma once
/// Callbacks of fit: their base class, and lists of them.

#include <distribute/base/config.hpp>
#include <distribute/checkpoint/checkpoint.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace distribute::train {

/// Refers to an object. A temporary is owned, a named object must outlive the handle. Copies share
/// it.
template <typename Base>
class Handle {
 public:
  template <typename T>
  requires std::derived_from<std::remove_cvref_t<T>, Base> Handle(T&& object) {
    if constexpr (std::is_lvalue_reference_v<T>)
      object_ = std::shared_ptr<Base>(std::shared_ptr<void>(), &object);
    else
      object_ = std::make_shared<std::remove_cvref_t<T>>(std::move(object));
  }
  template <std::derived_from<Base> T>
  Handle(std::shared_ptr<T> object) : object_(std::move(object)) {}
  Base& operator*() const { return *object_; }
  Base* operator->() const { return object_.get(); }

 private:
  std::shared_ptr<Base> object_;
};

/// Values of metrics by name; cheap to copy. Source  the `logs` dictionary of
/// tf.keras.callbacks.Callback
class Logs {
 public:
  using Entry = std::pair<std::string, double>;
  Logs() = default;
  Logs(std::initializer_list<Entry> entries);

  /// Adds the value, or replaces the one of that name.
  void set(std::string_view name, double value);
  /// Returns the value of that name; null when there is none.
  const double* find(std::string_view name) const;
  /// Throws  NotFoundError that lists the names.
  double at(std::string_view name) const;
  /// Returns names such as "loss, accuracy".
  std::string names() const;

  /// Returns the values with their names, in the order in which they were added.
  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  std::vector<Entry>::const_iterator begin() const { return entries_.begin(); }
  std::vector<Entry>::const_iterator end() const { return entries_.end(); }
  bool operator==(const Logs&) const = default;

 private:
  std::vector<Entry> entries_;
};

class Model;

/// Describes a loop to callbacks before it begins.
struct CallbackParams {
  int64_t epochs = 0;
  std::optional<int64_t> steps = {};  // of an epoch, if known
  bool has_validation = false;
};

/// Is the base of callbacks; override the hooks that you need. Batches and epochs count from 0.
/// `logs` hold values over all replicas and workers, so every worker's callbacks see the same and
/// decide alike. At the end of a batch they are means over the epoch so far. Values that one
/// callback adds to the logs of an epoch are visible to later callbacks. Hooks are called outside
/// strategy.run, on the thread of the loop; an exception ends the loop on all workers.
/// Source  tf.keras.callbacks.Callback
class Callback {
 public:
  virtual ~Callback() = default;

  /// Called by the loop before everything else.
  virtual void set_params(const CallbackParams& params) { params_ = params; }
  /// Called before any hook below.
  virtual void set_model(Model& model) { model_ = &model; }

  /// Called around the training, each epoch and each batch of `fit`. At the end `logs` hold the
  /// values.
  virtual void on_train_begin(Logs& logs) { (void)logs; }
  virtual void on_train_end(Logs& logs) { (void)logs; }
  virtual void on_epoch_begin(int64_t epoch, Logs& logs) { (void)epoch, (void)logs; }
  virtual void on_epoch_end(int64_t epoch, Logs& logs) { (void)epoch, (void)logs; }
  virtual void on_train_batch_begin(int64_t batch, Logs& logs) { (void)batch, (void)logs; }
  virtual void on_train_batch_end(int64_t batch, Logs& logs) { (void)batch, (void)logs; }

  /// Called around `evaluate` and its batches, also around the validation inside `fit`.
  virtual void on_test_begin(Logs& logs) { (void)logs; }
  virtual void on_test_end(Logs& logs) { (void)logs; }
  virtual void on_test_batch_begin(int64_t batch, Logs& logs) { (void)batch, (void)logs; }
  virtual void on_test_batch_end(int64_t batch, Logs& logs) { (void)batch, (void)logs; }

  /// Called around `predict` and its batches.
  virtual void on_predict_begin(Logs& logs) { (void)logs; }
  virtual void on_predict_end(Logs& logs) { (void)logs; }
  virtual void on_predict_batch_begin(int64_t batch, Logs& logs) { (void)batch, (void)logs; }
  virtual void on_predict_batch_end(int64_t batch, Logs& logs) { (void)batch, (void)logs; }

  /// Returns whether the logs of batches must hold the metrics, each of which costs an operation
  /// between workers. The loss is always there. All workers must return the same.
  virtual bool wants_batch_metrics() const { return true; }
  /// Returns the state that is needed after an interruption, such as counts and best values, by
  /// name: BackupAndRestore saves it with the model, and restores it after on_train_begin. All
  /// workers have the same names; the chief's values are kept.
  virtual CheckpointParts state() { return {}; }
  /// Returns whether the callback saves the state of the others: it then begins before them, and
  /// its other hooks are called after theirs.
  virtual bool saves_the_others() const { return false; }
  /// Returns whether one call for all batches of an epoch is enough, for callbacks that override
  /// hooks of batches. A coordinator does not know single batches, and refuses callbacks that need
  /// them.
  /// Source  _supports_tf_logs of Keras 2
  virtual bool works_by_epoch() const { return false; }

 protected:
  Callback() = default;
  Callback(const Callback&) = default;
  Callback& operator=(const Callback&) = default;
  const CallbackParams& params() const { return params_; }
  /// Throws  FailedPreconditionError outside the loop of a train::Model.
  Model& model() const;
  bool has_model() const { return model_ != nullptr; }

 private:
  CallbackParams params_;
  Model* model_ = nullptr;
};

/// A callback in options: `.callbacks = {EarlyStopping({.patience = 3}), my_history}`.
class CallbackHandle : public Handle<Callback> {
 public:
  template <typename T>
  requires std::derived_from<std::remove_cvref_t<T>, Callback> CallbackHandle(T&& object)
      : Handle(std::forward<T>(object)), overrides_(!InheritsBatchHooks<std::remove_cvref_t<T>>) {}
  template <std::derived_from<Callback> T>
  CallbackHandle(std::shared_ptr<T> object)
      : Handle(std::move(object)), overrides_(!InheritsBatchHooks<T>) {}

  /// Returns whether it has hooks that must be called for each batch.
  bool needs_batches() const { return overrides_ && !(**this).works_by_epoch(); }

 private:
  using Hook = void (Callback::*)(int64_t, Logs&);
  /// Whether T or a class between overrides a hook: it then has another type, or is not public.
  template <typename T>
  static constexpr bool InheritsBatchHooks = requires {
    requires std::same_as<decltype(&T::on_train_batch_begin), Hook>;
    requires std::same_as<decltype(&T::on_train_batch_end), Hook>;
    requires std::same_as<decltype(&T::on_test_batch_begin), Hook>;
    requires std::same_as<decltype(&T::on_test_batch_end), Hook>;
    requires std::same_as<decltype(&T::on_predict_batch_begin), Hook>;
    requires std::same_as<decltype(&T::on_predict_batch_end), Hook>;
  };

  bool overrides_;
};

/// Calls the callbacks of a loop in their order; those that save the state of others come last. One
/// thread.
/// Source  tf.keras.callbacks.CallbackList
class CallbackList {
 public:
  using Hook = void (Callback::*)(Logs&);
  using NumberedHook = void (Callback::*)(int64_t, Logs&);

  /// Throws  InvalidArgumentError, with a coordinator, for those that need single batches.
  CallbackList(std::vector<CallbackHandle> callbacks, Model& model, const CallbackParams& params);
  CallbackList(const CallbackList&) = delete;
  CallbackList& operator=(const CallbackList&) = delete;
  /// Calls on_train_begin, first of callbacks that save the state of others. States that they
  /// restore are assigned to the callbacks afterwards.
  void begin_training();
  /// Adds the states of all callbacks as parts, with numbers for names that occur twice. The list
  /// outlives the parts.
  void add_states(CheckpointParts& parts);
  void call(Hook hook, Logs& logs) const;
  void call(NumberedHook hook, int64_t number, Logs& logs) const;
  /// Calls a hook that has no logs with empty ones.
  void call(Hook hook) const;
  void call(NumberedHook hook, int64_t number) const;
  bool wants_batch_metrics() const;

 private:
  TensorState after_begin(const TensorState& state);

  std::vector<CallbackHandle> callbacks_;
  bool has_begun_ = false;
  std::vector<std::function<void()>> restored_;  // from before the callbacks began
};

}  // namespace distribute::train
