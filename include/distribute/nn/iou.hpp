#pragma once
/// Intersection over union of the areas of classes, as for segmentation.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/nn/metrics.hpp>

#include <optional>
#include <string>
#include <vector>

namespace distribute::nn::metrics {

struct IoUOptions {  // options of IoU
  int64_t num_classes;
  std::vector<int64_t> target_class_ids;
  std::optional<int64_t> ignore_class = {};  // targets that do not count
  bool sparse_y_true = true;                 // targets are class numbers, else one-hot
  // predictions are class numbers, else the largest score's class
  bool sparse_y_pred = true;
  // axis of the classes, if targets or predictions are not sparse
  int axis = -1;
  std::string name = "io_u";
};

/// The mean, over the target classes that occur, of intersection / union of the area of the class
/// and the area predicted for it. Class numbers out of range do not count.
/// Shapes  class numbers [batch...]; sample_weight alike, or a scalar.
/// Throws  InvalidArgumentError for a target class id out of range in the options.
/// Source  tf.keras.metrics.IoU, OneHotIoU
class IoU : public Metric {
 public:
  explicit IoU(IoUOptions options);
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {});
  DISTRIBUTE_INLINE Tensor result() const override;

 private:
  IoUOptions options_;
  Variable confusion_;  // [true class, predicted class]
};

struct MeanIoUOptions {  // options of MeanIoU
  int64_t num_classes;
  std::optional<int64_t> ignore_class = {};
  bool sparse_y_true = true;
  bool sparse_y_pred = true;
  int axis = -1;
  std::string name = "mean_io_u";
};

/// The mean of intersection over union of all classes.
/// Source  tf.keras.metrics.MeanIoU, OneHotMeanIoU
class MeanIoU : public IoU {
 public:
  explicit MeanIoU(MeanIoUOptions options);
};

struct BinaryIoUOptions {  // options of BinaryIoU
  std::vector<int64_t> target_class_ids = {0, 1};
  double threshold = 0.5;  // predictions from here on are class 1
  std::string name = "binary_io_u";
};

/// The mean of intersection over union of two classes, which a threshold separates.
/// Source  tf.keras.metrics.BinaryIoU
class BinaryIoU : public IoU {
 public:
  explicit BinaryIoU(EmptyBraces) : BinaryIoU() {}
  explicit BinaryIoU(BinaryIoUOptions options = {});
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {});

 private:
  double threshold_;
};

}  // namespace distribute::nn::metrics
