#pragma once
/// Writes summaries of a training for TensorBoard.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/data/pipeline_statistics.hpp>
#include <distribute/summary/file_writer.hpp>
#include <distribute/train/callback.hpp>
#include <distribute/train/model_checkpoint.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace distribute::train {

struct TensorBoardOptions {  // options of TensorBoard
  std::string log_dir = "logs";
  int64_t histogram_freq = 0;  // epochs between histograms of the weights; 0: none
  bool write_graph = true;
  bool write_steps_per_second = false;
  SaveFrequency update_freq = "epoch";  // or batches between scalars; 1 is Keras's "batch"
  // statistics of the training data, written at epochs' ends
  data::PipelineStatisticsPtr input_statistics = {};
};

/// Writes the runs `train` and `validation` below log_dir, with the tags of Keras: epoch_loss,
/// epoch_learning_rate, batch_loss (means over the epoch so far), evaluation_loss_vs_iterations,
/// "<weight>/histogram", and the graph of the layers; for the input "input/<stage>/wait_share" and
/// "input/<stage>/elements_per_second". Only the chief writes.
/// Source  tf.keras.callbacks.TensorBoard
class TensorBoard : public Callback {
 public:
  explicit TensorBoard(EmptyBraces) : TensorBoard() {}
  /// Throws  InvalidArgumentError for an empty directory and a negative frequency.
  explicit TensorBoard(TensorBoardOptions options = {});
  DISTRIBUTE_INLINE void on_train_begin(Logs& logs) override;
  DISTRIBUTE_INLINE void on_epoch_begin(int64_t epoch, Logs& logs) override;
  DISTRIBUTE_INLINE void on_train_batch_end(int64_t batch, Logs& logs) override;
  DISTRIBUTE_INLINE void on_test_end(Logs& logs) override;
  DISTRIBUTE_INLINE void on_epoch_end(int64_t epoch, Logs& logs) override;
  DISTRIBUTE_INLINE void on_train_end(Logs& logs) override;
  DISTRIBUTE_INLINE CheckpointParts state() override;
  bool wants_batch_metrics() const override { return options_.update_freq.batches() > 0; }
  bool works_by_epoch() const override { return !wants_batch_metrics(); }

 private:
  void scalar(const char* run, const std::string& tag, double value, int64_t step);
  void histograms(int64_t epoch);
  const summary::FileWriter& writer(const char* run);

  TensorBoardOptions options_;
  std::optional<summary::FileWriter> train_, validation_;
  int64_t step_ = 0, epoch_steps_ = 0;  // batches of all epochs, and of this one
  double epoch_began_ = 0, batch_ended_ = 0;
};

}  // namespace distribute::train
