#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/strategy/detail/run_spans.hpp>

#include <exception>
#include <utility>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE RunSpans::RunSpans(const std::string& strategy, int replicas, std::string task)
    : recorder_(monitoring::span_recorder(task)), task_(std::move(task)) {
  if (!recorder_) return;
  rows_.push_back(recorder_->add_row(strategy + ".run"));
  for (int r = 0; replicas > 1 && r < replicas; ++r)
    rows_.push_back(recorder_->add_row(str_cat(strategy, " replica ", r)));
}

DISTRIBUTE_INLINE RunSpans::~RunSpans() {
  try {
    if (recorder_) recorder_->save_alone(task_);
  } catch (const std::exception& error) {
    log_warning("strategy", str_cat("DISTRIBUTE_TIMELINE: ", error.what()));
  }
}

}  // namespace distribute::strategy_internal
