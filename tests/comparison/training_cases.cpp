#include "cases.hpp"

#include <distribute/nn/loss.hpp>
#include <distribute/nn/metrics.hpp>

#include <optional>

namespace comparison {

namespace {

namespace nn = dist::nn;

const Tensor& labels() {
  static const Tensor value{int32_t(0), int32_t(2)};
  return value;
}
Tensor matrix(const std::vector<float>& values) { return Tensor({2, 3}, values); }
Tensor logits() { return matrix({2.0f, 1.0f, 0.5f, 0.1f, 0.2f, 3.0f}); }
Tensor one_hot() { return matrix({1.0f, 0.0f, 0.0f, 0.0f, 0.0f, 1.0f}); }
Tensor probabilities() { return matrix({0.6f, 0.3f, 0.1f, 0.2f, 0.2f, 0.6f}); }

void loss_function_cases() {
  run_case("losses/sparse from logits", [] {
    return nn::sparse_categorical_crossentropy(labels(), logits(), {.from_logits = true});
  });
  run_case("losses/sparse",
           [] { return nn::sparse_categorical_crossentropy(labels(), probabilities()); });
  run_case("losses/categorical smoothed", [] {
    return nn::categorical_crossentropy(one_hot(), logits(),
                                        {.from_logits = true, .label_smoothing = 0.1f});
  });
  run_case("losses/categorical",
           [] { return nn::categorical_crossentropy(one_hot(), probabilities()); });
  run_case("losses/binary", [] { return nn::binary_crossentropy(one_hot(), probabilities()); });
  run_case("losses/binary smoothed", [] {
    return nn::binary_crossentropy(one_hot(), logits(),
                                   {.from_logits = true, .label_smoothing = 0.2f});
  });
  run_case("losses/squared", [] { return nn::mean_squared_error(one_hot(), probabilities()); });
  run_case("losses/absolute", [] { return nn::mean_absolute_error(one_hot(), probabilities()); });
}

Tensor of_object(nn::Reduction reduction, const Tensor& weights = {}) {
  const nn::MeanSquaredError loss({.reduction = reduction});
  return loss(Tensor({2, 1}, std::vector{1.0f, 3.0f}), Tensor({2, 1}, std::vector{0.0f, 0.0f}),
              weights);
}

void loss_object_cases(dist::Strategy& strategy) {
  const std::vector<std::pair<const char*, nn::Reduction>> reductions{
      {"default", nn::Reduction::Auto},
      {"sum", nn::Reduction::Sum},
      {"sum_over_batch_size", nn::Reduction::SumOverBatchSize},
      {"none", nn::Reduction::None}};
  for (const auto& [name, reduction] : reductions)
    run_case(dist::str_cat("losses/object, ", name, "/no strategy"),
             [reduction = reduction] { return of_object(reduction); });
  for (const auto& [name, reduction] : reductions)
    run_case(dist::str_cat("losses/object, ", name, "/in replicas"), [&, reduction = reduction] {
      return strategy.run([&] { return of_object(reduction); });
    });
  for (const auto& [name, reduction] : reductions)
    run_case(dist::str_cat("losses/object, ", name, "/cross-replica"), [&, reduction = reduction] {
      const auto scope = strategy.scope();
      return of_object(reduction);
    });
}

void average_cases(dist::Strategy& strategy) {
  const Tensor two{1.0f, 3.0f};
  const auto in_replicas = [&](const char* name, const std::function<Tensor()>& function) {
    run_case(dist::str_cat("losses/", name),
             [&] { return strategy.run([&] { return function(); }); });
  };
  in_replicas("compute_average_loss", [&] { return nn::compute_average_loss(two); });
  in_replicas("compute_average_loss of 8", [&] { return nn::compute_average_loss(two, 8); });
  in_replicas("compute_average_loss with weights", [&] {
    return nn::compute_average_loss(two, 4, Tensor{1.0f, 0.0f});
  });
  in_replicas("scale_regularization_loss", [&] { return nn::scale_regularization_loss(two); });
  run_case("losses/compute_average_loss, cross-replica", [&] {
    const auto scope = strategy.scope();
    return nn::compute_average_loss(Tensor{1.0f});
  });
}

/// A metric made under the strategy, its result after an update in each replica, in cross-replica
/// context, or without a strategy.
template <typename Metric, typename Update>
Tensor in_replicas(dist::Strategy& strategy, Metric metric, Update update) {
  strategy.run([&] { update(metric); });
  return metric.result();
}

float id_plus_one() { return float(dist::get_replica_context()->replica_id_in_sync_group() + 1); }

void distributed_metric_cases(dist::Strategy& strategy) {
  const auto scope = strategy.scope();
  run_case("metrics/mean in replicas", [&] {
    return in_replicas(strategy, nn::metrics::Mean(),
                       [](nn::metrics::Mean& m) { m.update_state(id_plus_one()); });
  });
  run_case("metrics/sum in replicas", [&] {
    return in_replicas(strategy, nn::metrics::Sum(),
                       [](nn::metrics::Sum& m) { m.update_state(id_plus_one()); });
  });
  run_case("metrics/mean weighted by replica", [&] {
    return in_replicas(strategy, nn::metrics::Mean(),
                       [](nn::metrics::Mean& m) { m.update_state(id_plus_one(), id_plus_one()); });
  });
  run_case("metrics/accuracy in replicas", [&] {
    return in_replicas(
        strategy, nn::metrics::SparseCategoricalAccuracy(),
        [](nn::metrics::SparseCategoricalAccuracy& m) { m.update_state(labels(), logits()); });
  });
  run_case("metrics/mean cross-replica", [] {
    nn::metrics::Mean mean;
    mean.update_state(4.0f);
    return mean.result();
  });
  run_case("metrics/sum cross-replica", [] {
    nn::metrics::Sum sum;
    sum.update_state(4.0f);
    return sum.result();
  });
}

template <typename Metric, typename... Values>
void metric_case(const char* name, Metric metric, const Values&... values) {
  run_case(dist::str_cat("metrics/", name), [&] {
    if constexpr (sizeof...(values) > 0) metric.update_state(values...);
    return metric.result();
  });
}

}  // namespace

void loss_cases() {
  auto strategy = mirrored(2);
  loss_function_cases();
  loss_object_cases(strategy);
  run_case("losses/object with weights", [] {
    return of_object(nn::Reduction::Sum, Tensor{0.5f, 2.0f});
  });
  average_cases(strategy);
}

void metric_cases() {
  auto strategy = mirrored(2);
  distributed_metric_cases(strategy);
  metric_case("mean of none", nn::metrics::Mean());
  metric_case("mean", nn::metrics::Mean(), Tensor{1.0f, 2.0f, 6.0f});
  metric_case("mean with weights", nn::metrics::Mean(), Tensor{1.0f, 3.0f}, Tensor{1.0f, 0.5f});
  metric_case("sum", nn::metrics::Sum(), Tensor{1.0f, 2.0f});
  const Tensor others{int32_t(0), int32_t(1)}, swapped{int32_t(1), int32_t(0)};
  metric_case("sparse accuracy", nn::metrics::SparseCategoricalAccuracy(), others, logits());
  metric_case("sparse accuracy of columns", nn::metrics::SparseCategoricalAccuracy(),
              labels().view({2, 1}), logits());
  metric_case("categorical accuracy", nn::metrics::CategoricalAccuracy(), one_hot(), logits());
  metric_case("top 2", nn::metrics::SparseTopKCategoricalAccuracy(2), swapped, logits());
}

}  // namespace comparison
