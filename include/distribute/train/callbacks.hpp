#pragma once
/// Callbacks for the learning rate, for logs and for your own functions.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/train/callback.hpp>
#include <distribute/train/fit_options.hpp>
#include <distribute/train/progress.hpp>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace distribute::train {

/// Holds the result of Model::fit. `history.at("val_loss")[i]` belongs to epoch `epoch[i]`; values
/// that some epochs do not have, as with validation_freq, have fewer entries.
/// Source  tf.keras.callbacks.History
class History : public Callback {
 public:
  std::vector<int64_t> epoch;
  std::map<std::string, std::vector<double>> history;

  /// In an elastic job, whether training has ended, or only this worker's part in it. A program
  /// that Left returns 143, so that it is started again elsewhere.
  ElasticEnd end = ElasticEnd::Finished;

  void on_train_begin(Logs&) override { epoch.clear(), history.clear(); }
  /// Replaces the entries of an epoch whose end was interrupted and which runs again.
  void on_epoch_end(int64_t number, Logs& logs) override {
    const bool again = !epoch.empty() && epoch.back() == number;
    if (!again) epoch.push_back(number);
    for (const auto& [name, value] : logs) {
      std::vector<double>& values = history[name];
      if (again && !values.empty()) values.pop_back();
      values.push_back(value);
    }
  }
  bool wants_batch_metrics() const override { return false; }
};

struct CSVLoggerOptions {  // options of CSVLogger
  std::string filename;
  std::string separator = ",";
  bool append = false;  // adds to existing rows, in their columns
};

/// Writes a file with the columns epoch, then the metrics by name, then those of a validation, also
/// where there is none yet. Metrics that an epoch does not have are NA. Names and numbers are
/// written as Keras writes them, by Python's module csv: a name with a separator, a quote or the
/// end of a line stands in quotes, and a number has the fewest digits that give it again. Only the
/// chief writes. A run that BackupAndRestore resumes keeps the rows of the epochs before it, with
/// or without `append`, and removes later ones.
/// Throws  InvalidArgumentError for an empty name, and a separator that is not one character;
///          PermissionDeniedError with the path when the file cannot be written.
/// Source  tf.keras.callbacks.CSVLogger
class CSVLogger : public Callback {
 public:
  explicit CSVLogger(CSVLoggerOptions options);
  DISTRIBUTE_INLINE void on_train_begin(Logs& logs) override;
  DISTRIBUTE_INLINE void on_epoch_begin(int64_t epoch, Logs& logs) override;
  DISTRIBUTE_INLINE void on_epoch_end(int64_t epoch, Logs& logs) override;
  DISTRIBUTE_INLINE void on_train_end(Logs& logs) override;
  DISTRIBUTE_INLINE CheckpointParts state() override;
  bool wants_batch_metrics() const override { return false; }

 private:
  void check(bool ok) const;
  void cut();
  int64_t size() const;
  void read_header();
  void write_header(const Logs& logs);
  void write_line(const std::vector<std::string>& cells);

  CSVLoggerOptions options_;
  std::vector<std::string> columns_;  // without the epoch
  int64_t kept_ = 0;                  // bytes of the file up to the last row
  bool is_cut_ = false;               // whether later rows have been removed
  std::shared_ptr<std::FILE> file_;
};

struct LambdaCallbackOptions {  // options of LambdaCallback
  using Hook = std::function<void(Logs&)>;
  using NumberedHook = std::function<void(int64_t, Logs&)>;
  NumberedHook on_epoch_begin = {}, on_epoch_end = {};
  NumberedHook on_train_batch_begin = {}, on_train_batch_end = {};
  Hook on_train_begin = {}, on_train_end = {};
  Hook on_test_begin = {}, on_test_end = {};
  NumberedHook on_test_batch_begin = {}, on_test_batch_end = {};
};

/// Calls the given functions. Source  tf.keras.callbacks.LambdaCallback
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

/// Sets the learning rate of each epoch by `schedule(epoch, rate)` or `schedule(epoch)`, which must
/// be the same function on all workers. The logs of the epoch get it as "learning_rate".
/// Throws  FailedPreconditionError, before the first epoch, for an optimizer with a schedule.
/// Source  tf.keras.callbacks.LearningRateScheduler
class LearningRateScheduler : public Callback {
 public:
  template <typename F>
  requires std::is_invocable_r_v<double, F&, int64_t, double>
  explicit LearningRateScheduler(F schedule, bool verbose = false)
      : schedule_(std::move(schedule)), verbose_(verbose) {}
  template <typename F>
  requires std::is_invocable_r_v<double, F&, int64_t>
  explicit LearningRateScheduler(F schedule, bool verbose = false)
      : schedule_([schedule = std::move(schedule)](int64_t epoch, double) {
          return double(schedule(epoch));
        }),
        verbose_(verbose) {}

  DISTRIBUTE_INLINE void on_train_begin(Logs& logs) override;
  DISTRIBUTE_INLINE void on_epoch_begin(int64_t epoch, Logs& logs) override;
  DISTRIBUTE_INLINE void on_epoch_end(int64_t epoch, Logs& logs) override;
  bool wants_batch_metrics() const override { return false; }

 private:
  std::function<double(int64_t, double)> schedule_;
  bool verbose_;
};

struct ProgressLoggerOptions {  // options of ProgressLogger
  Verbose verbose = Verbose::Auto;
  std::optional<int64_t> batches = {};  // of the first epoch, if known; later ones are counted
  std::FILE* out = stdout;
  std::optional<bool> terminal = {};  // unset: whether `out` is a terminal
};

/// Prints "Epoch 2/5", then one line, which is a bar while the epoch lasts and ends as "90/90 100%
/// [======]  0:03  5213 examples/s  loss 0.2312  val_loss 0.2501". If the output is not a terminal,
/// a line for every 100 steps comes before it. fit adds one by itself.
/// Source  tf.keras.callbacks.ProgbarLogger
class ProgressLogger : public Callback {
 public:
  explicit ProgressLogger(EmptyBraces) : ProgressLogger() {}
  explicit ProgressLogger(ProgressLoggerOptions options = {}) : options_(options) {}
  DISTRIBUTE_INLINE void on_epoch_begin(int64_t epoch, Logs& logs) override;
  DISTRIBUTE_INLINE void on_train_batch_begin(int64_t batch, Logs& logs) override;
  DISTRIBUTE_INLINE void on_train_batch_end(int64_t batch, Logs& logs) override;
  DISTRIBUTE_INLINE void on_epoch_end(int64_t epoch, Logs& logs) override;
  bool wants_batch_metrics() const override { return false; }
  bool works_by_epoch() const override { return true; }

 private:
  bool prints() const;
  void begin(int64_t first_batch);

  ProgressLoggerOptions options_;
  std::shared_ptr<Progress> progress_;
  int64_t batches_ = 0;  // number in this epoch so far
};

}  // namespace distribute::train
