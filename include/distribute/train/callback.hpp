#pragma once
/// What may look at a training, a test or a prediction while it runs, and change its course.

#include <distribute/base/config.hpp>
#include <distribute/train/handle.hpp>
#include <distribute/train/logs.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace distribute::train {

class Model;

/// What callbacks know of a loop before it begins.
struct CallbackParams {
  int64_t epochs = 0;
  std::optional<int64_t> steps = {};  // of an epoch, when it is known
  bool has_validation = false;
};

/// Base of callbacks: override what is needed. Batches and epochs count from 0. `logs` hold figures
/// over all replicas and workers, so every worker's callbacks see the same and decide the same. At
/// the end of a batch they are means over the epoch so far. What one callback adds to the logs of
/// an epoch the later ones see. Called outside strategy.run, on the thread of the loop; an
/// exception ends the loop on all workers. Source  tf.keras.callbacks.Callback
class Callback {
 public:
  virtual ~Callback() = default;

  /// Called by the loop first of all; then set_model().
  virtual void set_params(const CallbackParams& params) { params_ = params; }
  /// Before any hook below.
  virtual void set_model(Model& model) { model_ = &model; }

  /// Around the training, each epoch and each batch of `fit`. At the end `logs` hold the figures.
  virtual void on_train_begin(Logs& logs) { (void)logs; }
  virtual void on_train_end(Logs& logs) { (void)logs; }
  virtual void on_epoch_begin(int64_t epoch, Logs& logs) { (void)epoch, (void)logs; }
  virtual void on_epoch_end(int64_t epoch, Logs& logs) { (void)epoch, (void)logs; }
  virtual void on_train_batch_begin(int64_t batch, Logs& logs) { (void)batch, (void)logs; }
  virtual void on_train_batch_end(int64_t batch, Logs& logs) { (void)batch, (void)logs; }

  /// Around `evaluate` and its batches, also around the validation inside `fit`.
  virtual void on_test_begin(Logs& logs) { (void)logs; }
  virtual void on_test_end(Logs& logs) { (void)logs; }
  virtual void on_test_batch_begin(int64_t batch, Logs& logs) { (void)batch, (void)logs; }
  virtual void on_test_batch_end(int64_t batch, Logs& logs) { (void)batch, (void)logs; }

  /// Around `predict` and its batches.
  virtual void on_predict_begin(Logs& logs) { (void)logs; }
  virtual void on_predict_end(Logs& logs) { (void)logs; }
  virtual void on_predict_batch_begin(int64_t batch, Logs& logs) { (void)batch, (void)logs; }
  virtual void on_predict_batch_end(int64_t batch, Logs& logs) { (void)batch, (void)logs; }

  /// Whether the logs of batches have to hold the metrics: asking for them costs an operation
  /// between workers for each. The loss is always there. The same on all workers.
  virtual bool wants_batch_metrics() const { return true; }
  /// For callbacks that override hooks of batches: whether one call for all batches of an epoch
  /// will do. A coordinator does not know single batches, and refuses those that want them.
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

/// `.callbacks = {EarlyStopping({.patience = 3}), my_history}`.
class CallbackHandle : public Handle<Callback> {
 public:
  template <typename T>
  requires std::derived_from<std::remove_cvref_t<T>, Callback> CallbackHandle(T&& object)
      : Handle(std::forward<T>(object)), overrides_(!InheritsBatchHooks<std::remove_cvref_t<T>>) {}
  template <std::derived_from<Callback> T>
  CallbackHandle(std::shared_ptr<T> object)
      : Handle(std::move(object)), overrides_(!InheritsBatchHooks<T>) {}

  /// Whether it has hooks that have to be called for each batch.
  bool needs_batches() const { return overrides_ && !(**this).works_by_epoch(); }

 private:
  using Hook = void (Callback::*)(int64_t, Logs&);
  /// Of a hook that T or a class between overrides the type is another, or it is not public.
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

}  // namespace distribute::train
