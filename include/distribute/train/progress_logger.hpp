#pragma once
/// Shows the progress of fit on the chief.

#include <distribute/base/config.hpp>
#include <distribute/base/empty_braces.hpp>
#include <distribute/train/callback.hpp>
#include <distribute/train/fit_options.hpp>
#include <distribute/train/progress.hpp>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>

namespace distribute::train {

struct ProgressLoggerOptions {  // options of ProgressLogger
  Verbose verbose = Verbose::Auto;
  std::optional<int64_t> batches = {};  // of the first epoch, where known; later ones are counted
  std::FILE* out = stdout;
  std::optional<bool> terminal = {};  // none: what `out` is
};

/// "Epoch 2/5", a bar or lines for its steps, and a line with the figures at its end. fit adds one
/// by itself.
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

  ProgressLoggerOptions options_;
  std::shared_ptr<Progress> progress_;
  int64_t batches_ = 0;  // of this epoch so far
  double began_ = 0;     // the epoch, on the steady clock
};

}  // namespace distribute::train
