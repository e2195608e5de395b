#pragma once
/// A callback made of functions.

#include <distribute/base/config.hpp>
#include <distribute/train/callback.hpp>

#include <cstdint>
#include <functional>
#include <utility>

namespace distribute::train {

struct LambdaCallbackOptions {  // options of LambdaCallback
  using Hook = std::function<void(Logs&)>;
  using NumberedHook = std::function<void(int64_t, Logs&)>;
  NumberedHook on_epoch_begin = {}, on_epoch_end = {};
  NumberedHook on_train_batch_begin = {}, on_train_batch_end = {};
  Hook on_train_begin = {}, on_train_end = {};
  Hook on_test_begin = {}, on_test_end = {};
  NumberedHook on_test_batch_begin = {}, on_test_batch_end = {};
};

/// Calls the functions that were given. Source  tf.keras.callbacks.LambdaCallback
class LambdaCallback : public Callback {
 public:
  explicit LambdaCallback(LambdaCallbackOptions options) : hooks_(std::move(options)) {}

  void on_train_begin(Logs& logs) override { call(hooks_.on_train_begin, logs); }
  void on_train_end(Logs& logs) override { call(hooks_.on_train_end, logs); }
  void on_epoch_begin(int64_t n, Logs& logs) override { call(hooks_.on_epoch_begin, n, logs); }
  void on_epoch_end(int64_t n, Logs& logs) override { call(hooks_.on_epoch_end, n, logs); }
  void on_train_batch_begin(int64_t n, Logs& logs) override {
    call(hooks_.on_train_batch_begin, n, logs);
  }
  void on_train_batch_end(int64_t n, Logs& logs) override {
    call(hooks_.on_train_batch_end, n, logs);
  }
  void on_test_begin(Logs& logs) override { call(hooks_.on_test_begin, logs); }
  void on_test_end(Logs& logs) override { call(hooks_.on_test_end, logs); }
  void on_test_batch_begin(int64_t n, Logs& logs) override {
    call(hooks_.on_test_batch_begin, n, logs);
  }
  void on_test_batch_end(int64_t n, Logs& logs) override {
    call(hooks_.on_test_batch_end, n, logs);
  }
  bool wants_batch_metrics() const override {
    return hooks_.on_train_batch_end || hooks_.on_test_batch_end;
  }
  bool works_by_epoch() const override {
    return !wants_batch_metrics() && !hooks_.on_train_batch_begin && !hooks_.on_test_batch_begin;
  }

 private:
  template <typename Function, typename... Args>
  static void call(const Function& function, Args&&... args) {
    if (function) function(args...);
  }

  LambdaCallbackOptions hooks_;
};

}  // namespace distribute::train
