#pragma once
#include <distribute/base/error.hpp>
#include <distribute/data/batch.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/strategy/scope.hpp>
#include <distribute/strategy/strategy.hpp>
#include <distribute/train/detail/coordinated_steps.hpp>
#include <distribute/train/detail/named_outputs.hpp>
#include <distribute/train/fit_loop.hpp>
#include <distribute/train/model.hpp>

#include <utility>

namespace distribute::train_internal {

/// Returns the share of replica `r` of `all`: rows in order.
DISTRIBUTE_INLINE data::Batch part_of(const data::Batch& batch, int64_t r, int64_t all) {
  const int64_t rows = data::batch_size(batch);
  return data::rows(batch, rows * r / all, rows * (r + 1) / all);
}

}  // namespace distribute::train_internal

namespace distribute::train {

/// Every worker reads all batches and computes its rows, so the results are in the data's order.
DISTRIBUTE_INLINE void Model::predict_here(const data::Dataset& data, const CallbackList& callbacks,
                                           std::optional<int64_t> steps, bool all_outputs,
                                           Predictions& results) {
  StrategyExtended& extended = strategy_.extended();
  auto iterator = data.iterator();
  const int64_t many = steps_per_execution();
  int64_t step = 0;
  for (; !stop_predicting_ && (!steps || step < *steps); ++step) {
    const auto batch = iterator.get_next_as_optional();
    if (!batch) break;
    if (step % many == 0) callbacks.call(&Callback::on_predict_batch_begin, step);
    std::vector<data::Batch> parts;
    for (int r = 0; r < extended.num_local_replicas(); ++r)
      parts.push_back(
          train_internal::part_of(*batch, extended.replica_id(r), extended.num_replicas_in_sync()));
    const auto all =
        strategy_.run([&](const data::Batch& part) { return predict_parts(part, all_outputs); },
                      PerReplica<data::Batch>(std::move(parts)));
    results.resize(all[0].size());
    for (size_t i = 0; i < all[0].size(); ++i) {
      std::vector<Tensor> one;
      for (const std::vector<Tensor>& replica : all.values()) one.push_back(replica.at(i));
      results[i].push_back(strategy_.gather(PerReplica<Tensor>(std::move(one)), 0));
    }
    if ((step + 1) % many == 0) callbacks.call(&Callback::on_predict_batch_end, step);
  }
  if (step % many != 0) callbacks.call(&Callback::on_predict_batch_end, step - 1);
}

DISTRIBUTE_INLINE std::vector<Tensor> Model::predict_all(const data::Dataset& data,
                                                         const PredictOptions& options,
                                                         bool all_outputs) {
  require_steps(data, options.steps, "predict", "steps");
  const ScopeUnlessCurrent scope(strategy_);
  const CallbackList callbacks(options.callbacks, *this, {.steps = options.steps});
  Predictions results;
  run_on_all_workers(*this, [&] {
    build(data.element_spec());
    stop_predicting_ = false;
    callbacks.call(&Callback::on_predict_begin);
    if (coordinated_)
      predict_on_workers(data, callbacks, options.steps, all_outputs, results);
    else
      predict_here(data, callbacks, options.steps, all_outputs, results);
    if (results.empty()) throw InvalidArgumentError("predict: the data has no examples");
    callbacks.call(&Callback::on_predict_end);
  });
  std::vector<Tensor> joined;
  for (const std::vector<Tensor>& one : results) joined.push_back(concat(one, 0));
  return joined;
}

DISTRIBUTE_INLINE std::vector<Tensor> Model::predict_parts(const data::Batch& batch,
                                                           bool all_outputs) {
  if (!all_outputs) return {predict_step(train_internal::by_position(module_, batch))};
  const auto outputs = (*named_)(train_internal::named_batch(*named_, batch).inputs);
  std::vector<Tensor> ordered;
  for (const std::string& name : named_->output_names()) ordered.push_back(outputs.at(name));
  return ordered;
}

DISTRIBUTE_INLINE Tensor Model::predict(const data::Dataset& data, const PredictOptions& options) {
  return predict_all(data, options, false).at(0);
}

}  // namespace distribute::train
