#pragma once
/// Metrics: values that add up over batches and replicas.

#include <distribute/autograd/trackable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/tensor/tensor.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace distribute::nn::metrics {

/// Says which results of a metric are better; callbacks with mode "auto" use it.
enum class Direction { Unknown, Up, Down };

/// Is the base of metrics. A metric takes one struct of options with `.name` in it. The name alone
/// and the `k` of a top-k accuracy are taken without braces, too. Its variables are synchronized on
/// read and summed: each replica adds to its own, and result() in cross-replica context is the
/// total of all replicas. An update in cross-replica context, as in a plain loop of evaluation,
/// counts the values once. Create it in the strategy's scope; replica threads may update it
/// together. Workers of parameter servers that make their own steps each have their own values; a
/// coordinator's metrics are on the servers and count the values of all workers.
/// Source  tf.keras.metrics.Metric
class Metric : public Trackable {
 public:
  ~Metric() override = default;
  Metric(Metric&&) = default;
  Metric& operator=(Metric&&) = default;

  /// Returns a float32 scalar, or one number for each threshold or class where the metric says so.
  virtual Tensor result() const = 0;
  /// Sets the metric to zero. Call it in cross-replica context, or in every replica.
  void reset_state();
  const std::string& name() const { return name_; }
  /// Returns Unknown for sums, means and your own metrics that do not set it.
  /// Source  keras.metrics.Metric._direction
  Direction direction() const { return direction_; }
  void set_direction(Direction direction) { direction_ = direction; }
  std::vector<Variable> variables() const;
  DISTRIBUTE_INLINE std::vector<NamedVariable> own_variables() const override;

 protected:
  explicit Metric(std::string name);
  /// Adds a variable of float32 zeros.
  Variable add_variable(const std::string& name, const Shape& shape = {});
  /// Calls `make` once for all replicas. It adds variables whose shape depends on the first values.
  void build_once(const std::function<void()>& make);

 private:
  struct Building;
  std::string name_;
  Direction direction_ = Direction::Unknown;
  std::shared_ptr<Building> building_;
  std::vector<NamedVariable> variables_;
};

/// Sums all values, each times its weight.
/// Source  tf.keras.metrics.Sum
class Sum : public Metric {
 public:
  explicit Sum(std::string name = "sum");
  void update_state(const Tensor& values, const Tensor& sample_weight = {});
  DISTRIBUTE_INLINE Tensor result() const override;

 private:
  Variable total_;
};

/// Weighted mean of the examples, each of which is the mean of its values; 0 before the first one.
/// The mask of values counts only together with weights, as in Keras.
/// Source  tf.keras.metrics.Mean
class Mean : public Metric {
 public:
  explicit Mean(std::string name = "mean");
  /// Shapes  sample_weight as values, or their first axes, or a scalar for all of them; or empty.
  void update_state(const Tensor& values, const Tensor& sample_weight = {});
  DISTRIBUTE_INLINE Tensor result() const override;

 private:
  Variable total_, count_;
};

/// Averages the results of a function over examples or elements.
/// Source  tf.keras.metrics.MeanMetricWrapper
class MeanMetricWrapper : public Mean {
 public:
  using Function = std::function<Tensor(const Tensor& y_true, const Tensor& y_pred)>;
  explicit MeanMetricWrapper(Function function, std::string name = "mean_metric_wrapper",
                             Direction direction = Direction::Unknown);
  /// Casts predictions to float32 for the function; steps that their mask leaves out do not count.
  /// Shapes  sample_weight as in Mean.
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {});

 private:
  Function function_;
};

/// The functions that accuracies average: 1 where the prediction is right, else 0, as float32.
/// Shapes  targets as the classes below take them -> [batch...], binary and equal ones elementwise.
/// Source  tf.keras.metrics.binary_accuracy and so on
Tensor accuracy(const Tensor& y_true, const Tensor& y_pred);
Tensor binary_accuracy(const Tensor& y_true, const Tensor& y_pred, double threshold = 0.5);
Tensor sparse_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred);
Tensor categorical_accuracy(const Tensor& y_true, const Tensor& y_pred);
Tensor sparse_top_k_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred, int k = 5,
                                         bool from_sorted_ids = false);
Tensor top_k_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred, int k = 5);

/// Computes the mean of "the prediction equals the target".
/// Source  tf.keras.metrics.Accuracy
class Accuracy : public MeanMetricWrapper {
 public:
  explicit Accuracy(std::string name = "accuracy");
};

struct BinaryAccuracyOptions {  // options of BinaryAccuracy
  double threshold = 0.5;
  std::string name = "binary_accuracy";
};

/// Computes the mean of "the prediction is above the threshold exactly where the target is 1".
/// Source  tf.keras.metrics.BinaryAccuracy
class BinaryAccuracy : public MeanMetricWrapper {
 public:
  explicit BinaryAccuracy(EmptyBraces) : BinaryAccuracy() {}
  template <std::convertible_to<std::string> Name>
  explicit BinaryAccuracy(const Name& name)
      : BinaryAccuracy(BinaryAccuracyOptions{.threshold = 0.5, .name = name}) {}
  explicit BinaryAccuracy(BinaryAccuracyOptions options = {});
};

/// Computes the mean of "the largest prediction is the true class".
/// Shapes  y_true integer [batch...] or [batch..., 1], y_pred [batch..., classes].
/// Source  tf.keras.metrics.SparseCategoricalAccuracy
class SparseCategoricalAccuracy : public MeanMetricWrapper {
 public:
  explicit SparseCategoricalAccuracy(std::string name = "sparse_categorical_accuracy");
};

/// Computes the mean of "the largest prediction is the true class", for targets [batch...,
/// classes].
/// Source  tf.keras.metrics.CategoricalAccuracy
class CategoricalAccuracy : public MeanMetricWrapper {
 public:
  explicit CategoricalAccuracy(std::string name = "categorical_accuracy");
};

struct TopKOptions {  // options of top-k accuracies
  int k = 5;
  std::string name = {};  // empty: Keras's name of the class
};

struct SparseTopKOptions {  // options of SparseTopKCategoricalAccuracy
  int k = 5;
  bool from_sorted_ids = false;  // predictions are class numbers, the most probable first
  std::string name = {};
};

/// Computes the mean of "the true class is among the k largest predictions".
/// Shapes  y_true integer [batch] or [batch, 1], y_pred [batch, classes].
/// Source  tf.keras.metrics.SparseTopKCategoricalAccuracy
class SparseTopKCategoricalAccuracy : public MeanMetricWrapper {
 public:
  explicit SparseTopKCategoricalAccuracy(EmptyBraces) : SparseTopKCategoricalAccuracy() {}
  template <std::integral T>
  explicit SparseTopKCategoricalAccuracy(T k)
      : SparseTopKCategoricalAccuracy(SparseTopKOptions{.k = int(k)}) {}
  explicit SparseTopKCategoricalAccuracy(SparseTopKOptions options = {});
};

/// Computes the mean of "the true class is among the k largest predictions", for targets [batch,
/// classes].
/// Source  tf.keras.metrics.TopKCategoricalAccuracy
class TopKCategoricalAccuracy : public MeanMetricWrapper {
 public:
  explicit TopKCategoricalAccuracy(EmptyBraces) : TopKCategoricalAccuracy() {}
  template <std::integral T>
  explicit TopKCategoricalAccuracy(T k)
      : TopKCategoricalAccuracy(TopKOptions{.k = int(k), .name = {}}) {}
  explicit TopKCategoricalAccuracy(TopKOptions options = {});
};

}  // namespace distribute::nn::metrics
