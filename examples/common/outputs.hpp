#pragma once
/// The figures that a run writes while it goes: --loss_csv and --logdir.

#include <distribute/io/file_system.hpp>
#include <distribute/summary/file_writer.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace examples {

struct OutputFiles {
  std::string loss_csv, logdir;  // "": none
};

class Outputs {
 public:
  explicit Outputs(OutputFiles files) : files_(std::move(files)) {}

  /// On the task that writes; again does nothing. Losses of steps before `first_step` stay, as
  /// they are of the same training; 0: a new file.
  /// Throws  PermissionDeniedError that names the flag.
  void open(int64_t first_step = 0);
  /// Of the update that made step `number` of the job; steps count from 1.
  /// Throws  ResourceExhaustedError on a full disk.
  void loss(int64_t number, double loss, double grad_norm);
  /// For TensorBoard.
  void scalar(const std::string& name, double value, int64_t step);
  /// What did not reach the disk or the store is an error, not a shorter file.
  void close();

 private:
  void write_loss_csv(const std::string& text);

  const OutputFiles files_;
  std::unique_ptr<distribute::io::WritableFile> loss_csv_;
  std::optional<distribute::summary::FileWriter> writer_;
};

}  // namespace examples
