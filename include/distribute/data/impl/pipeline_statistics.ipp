#pragma once
#include <distribute/base/detail/seconds.hpp>
#include <distribute/data/pipeline_statistics.hpp>

#include <algorithm>
#include <cstdio>
#include <mutex>

namespace distribute::data {

namespace data_internal {

class MeasuredStream final : public OneToOneStream<Batch> {
 public:
  MeasuredStream(std::unique_ptr<BatchStream> input, PipelineStatisticsPtr statistics, size_t stage)
      : OneToOneStream(std::move(input)), statistics_(std::move(statistics)), stage_(stage) {}
  bool next(Batch& out) override {
    const double begin = base_internal::steady_seconds();
    const bool more = input().next(out);
    statistics_->add(stage_, begin, base_internal::steady_seconds(), more);
    return more;
  }

 private:
  PipelineStatisticsPtr statistics_;
  size_t stage_;
};

class MeasuredNode final : public CopiedNode<MeasuredNode> {
 public:
  MeasuredNode(NodePtr input, PipelineStatisticsPtr statistics, std::string stage)
      : CopiedNode(std::move(input)), statistics_(std::move(statistics)), stage_(std::move(stage)) {
    statistics_->stage(stage_);  // called here so that stages are in the pipeline's order
  }
  const char* kind() const override { return "Measured"; }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    return std::make_unique<MeasuredStream>(input().elements(pass), statistics_,
                                            statistics_->stage(stage_));
  }

 private:
  PipelineStatisticsPtr statistics_;
  std::string stage_;
};

}  // namespace data_internal

DISTRIBUTE_INLINE double StageStatistics::elements_per_second() const {
  return seconds_elapsed > 0 ? double(elements) / seconds_elapsed : 0;
}

DISTRIBUTE_INLINE double StageStatistics::wait_share() const {
  return seconds_elapsed > 0 ? std::min(seconds_waited / seconds_elapsed, 1.0) : 0;
}

struct PipelineStatistics::State {
  struct Stage {
    StageStatistics total;
    double first_begin = -1;
  };
  std::mutex mutex;  // guards the stages
  std::vector<Stage> stages;
};

DISTRIBUTE_INLINE PipelineStatistics::PipelineStatistics() : state_(new State()) {}
DISTRIBUTE_INLINE PipelineStatistics::~PipelineStatistics() = default;

DISTRIBUTE_INLINE size_t PipelineStatistics::stage(const std::string& name) {
  std::lock_guard lock(state_->mutex);
  for (size_t i = 0; i < state_->stages.size(); ++i)
    if (state_->stages[i].total.name == name) return i;
  state_->stages.push_back({{name}});
  return state_->stages.size() - 1;
}

DISTRIBUTE_INLINE void PipelineStatistics::add(size_t stage, double begin, double end,
                                               bool gave_element) {
  std::lock_guard lock(state_->mutex);
  State::Stage& s = state_->stages.at(stage);
  if (s.first_begin < 0) s.first_begin = begin;
  s.total.elements += gave_element;
  s.total.seconds_waited += end - begin;
  s.total.seconds_elapsed = std::max(s.total.seconds_elapsed, end - s.first_begin);
}

DISTRIBUTE_INLINE std::vector<StageStatistics> PipelineStatistics::stages() const {
  std::lock_guard lock(state_->mutex);
  std::vector<StageStatistics> result;
  for (const State::Stage& stage : state_->stages) result.push_back(stage.total);
  return result;
}

DISTRIBUTE_INLINE void PipelineStatistics::reset() {
  std::lock_guard lock(state_->mutex);
  for (State::Stage& stage : state_->stages) stage = {{stage.total.name}};
}

DISTRIBUTE_INLINE std::string PipelineStatistics::summary() const {
  std::string text;
  for (const StageStatistics& stage : stages()) {
    char numbers[96];
    std::snprintf(numbers, sizeof numbers, "%10lld elements %10.1f /s   waited %5.1f %%\n",
                  static_cast<long long>(stage.elements), stage.elements_per_second(),
                  100 * stage.wait_share());
    text += stage.name + std::string(stage.name.size() < 12 ? 12 - stage.name.size() : 1, ' ');
    text += numbers;
  }
  return text;
}

DISTRIBUTE_INLINE std::vector<std::pair<std::string, double>> PipelineStatistics::scalars() const {
  std::vector<std::pair<std::string, double>> values;
  for (const StageStatistics& stage : stages()) {
    values.emplace_back("input/" + stage.name + "/elements_per_second",
                        stage.elements_per_second());
    values.emplace_back("input/" + stage.name + "/wait_share", stage.wait_share());
  }
  return values;
}

DISTRIBUTE_INLINE NodePtr measure_node(NodePtr input, PipelineStatisticsPtr statistics,
                                       const std::string& stage) {
  if (!statistics) return input;
  return std::make_shared<data_internal::MeasuredNode>(std::move(input), std::move(statistics),
                                                       stage);
}

}  // namespace distribute::data
