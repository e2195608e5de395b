#pragma once
/// Writes the figures of each epoch to a file of comma-separated values.

#include <distribute/base/config.hpp>
#include <distribute/train/callback.hpp>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace distribute::train {

struct CSVLoggerOptions {  // options of CSVLogger
  std::string filename;
  std::string separator = ",";
  bool append = false;  // to the rows that are there, in their columns
};

/// Columns: epoch, then the figures by name. Figures that an epoch does not have are NA. The chief
/// alone writes.
/// Throws  InvalidArgumentError for an empty name; PermissionDeniedError with the path when the
///         file cannot be written.
/// Source  tf.keras.callbacks.CSVLogger
class CSVLogger : public Callback {
 public:
  explicit CSVLogger(CSVLoggerOptions options);
  DISTRIBUTE_INLINE void on_train_begin(Logs& logs) override;
  DISTRIBUTE_INLINE void on_epoch_end(int64_t epoch, Logs& logs) override;
  DISTRIBUTE_INLINE void on_train_end(Logs& logs) override;
  bool wants_batch_metrics() const override { return false; }

 private:
  void read_header();
  void write_header(const Logs& logs);
  void write_line(const std::vector<std::string>& cells);

  CSVLoggerOptions options_;
  std::vector<std::string> columns_;  // without the epoch
  std::shared_ptr<std::FILE> file_;
};

}  // namespace distribute::train
