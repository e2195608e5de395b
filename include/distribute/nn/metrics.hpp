#pragma once
/// Figures that add up over batches and replicas.

#include <distribute/autograd/trackable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <string>
#include <vector>

namespace distribute::nn::metrics {

/// Base of metrics. Its variables are synchronized on read and summed: each replica adds to its
/// own, result() in cross-replica context is that of all replicas. Updated there, too, as in a
/// plain loop of evaluation, it counts the values once. Create it in the strategy's scope; replica
/// threads may update it together.
/// Source  tf.keras.metrics.Metric
class Metric : public Trackable {
 public:
  ~Metric() override = default;
  Metric(Metric&&) = default;
  Metric& operator=(Metric&&) = default;

  /// A float32 scalar.
  virtual Tensor result() const = 0;
  /// Back to zero; call in cross-replica context, or in every replica.
  void reset_state();
  const std::string& name() const { return name_; }
  std::vector<Variable> variables() const;
  std::vector<NamedVariable> own_variables() const override { return variables_; }

 protected:
  explicit Metric(std::string name) : name_(std::move(name)) {}
  /// A float32 scalar that starts at 0.
  Variable add_variable(const std::string& name);

 private:
  std::string name_;
  std::vector<NamedVariable> variables_;
};

/// Sum of all values, each times its weight.
/// Source  tf.keras.metrics.Sum
class Sum : public Metric {
 public:
  explicit Sum(std::string name = "sum");
  void update_state(const Tensor& values, const Tensor& sample_weight = {});
  DISTRIBUTE_INLINE Tensor result() const override;

 private:
  Variable total_;
};

/// Weighted mean of all values; 0 before the first one.
/// Source  tf.keras.metrics.Mean
class Mean : public Metric {
 public:
  explicit Mean(std::string name = "mean");
  /// Shapes  sample_weight as values, a scalar, or with leading axes of values; may be none.
  void update_state(const Tensor& values, const Tensor& sample_weight = {});
  DISTRIBUTE_INLINE Tensor result() const override;

 private:
  Variable total_, count_;
};

/// Mean of "the largest prediction is the true class".
/// Shapes  y_true integer [batch] or [batch, 1], y_pred [batch, classes].
/// Source  tf.keras.metrics.SparseCategoricalAccuracy
class SparseCategoricalAccuracy : public Mean {
 public:
  explicit SparseCategoricalAccuracy(std::string name = "sparse_categorical_accuracy");
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {});
};

/// The same for targets [batch, classes].
/// Source  tf.keras.metrics.CategoricalAccuracy
class CategoricalAccuracy : public Mean {
 public:
  explicit CategoricalAccuracy(std::string name = "categorical_accuracy");
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {});
};

/// Mean of "the true class is among the k largest predictions".
/// Source  tf.keras.metrics.SparseTopKCategoricalAccuracy
class SparseTopKCategoricalAccuracy : public Mean {
 public:
  explicit SparseTopKCategoricalAccuracy(int k = 5,
                                         std::string name = "sparse_top_k_categorical_accuracy");
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {});

 private:
  int k_;
};

/// The same for targets [batch, classes].
/// Source  tf.keras.metrics.TopKCategoricalAccuracy
class TopKCategoricalAccuracy : public Mean {
 public:
  explicit TopKCategoricalAccuracy(int k = 5, std::string name = "top_k_categorical_accuracy");
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {});

 private:
  int k_;
};

}  // namespace distribute::nn::metrics
