#pragma once
#include <distribute/data/dataset.hpp>
#include <distribute/data/detail/fruitless.hpp>
#include <distribute/data/grouping.hpp>
#include <distribute/data/random.hpp>
#include <distribute/ops/detail/global_seed.hpp>

#include <algorithm>
#include <array>
#include <numeric>

namespace distribute::data {

namespace data_internal {

/// Draws numbers by weights, until no number has a weight. The position in the sequence is the
/// state.
class DrawStream final : public BatchStream {
 public:
  DrawStream(uint64_t key, std::vector<double> weights)
      : key_(key), weights_(std::move(weights)), sums_(weights_.size()) {
    std::partial_sum(weights_.begin(), weights_.end(), sums_.begin());
  }
  bool next(Batch& out) override {
    if (!(sums_.back() > 0)) return false;
    constexpr int64_t kSteps = int64_t{1} << 53;
    const double at = double(draw(key_, given_++, kSteps)) / double(kSteps) * sums_.back();
    int64_t number = std::upper_bound(sums_.begin(), sums_.end() - 1, at) - sums_.begin();
    while (weights_[size_t(number)] == 0) --number;  // `at` was rounded up to the sum
    out = Batch{.x = number};
    return true;
  }
  int64_t skip(int64_t count) override {
    given_ += count;
    return count;
  }
  /// Excludes this number from further draws.
  void leave_out(size_t number) {
    weights_[number] = 0;
    std::partial_sum(weights_.begin(), weights_.end(), sums_.begin());
  }
  void save(StateWriter& state) const override { state.put(given_); }
  void restore(StateReader& state) override { given_ = state.get(); }

 private:
  uint64_t key_;
  std::vector<double> weights_, sums_;  // sums_[i] is the sum of the weights 0 to i
  int64_t given_ = 0;
};

class ChooseStream final : public BatchStream {
 public:
  ChooseStream(std::unique_ptr<BatchStream> choices,
               std::vector<std::unique_ptr<BatchStream>> inputs, bool stop_on_empty_dataset)
      : choices_(std::move(choices)),
        draws_(dynamic_cast<DrawStream*>(choices_.get())),
        inputs_(std::move(inputs)),
        has_ended_(inputs_.size()),
        stop_(stop_on_empty_dataset) {}
  bool next(Batch& out) override {
    Batch choice;
    FruitlessSteps fruitless("choose_from_datasets: datasets that have ended were chosen");
    while (num_ended_ < limit() && choices_->next(choice)) {
      const int64_t number = choice.x.item<int64_t>();
      if (number < 0 || number >= int64_t(inputs_.size()))
        throw InvalidArgumentError(str_cat("choose_from_datasets: the choice ", number,
                                           " is not in [0, ", inputs_.size(), ")"));
      if (!has_ended_[size_t(number)]) {
        if (inputs_[size_t(number)]->next(out)) return true;
        end(size_t(number));
      }
      fruitless.add();
    }
    return false;
  }
  void save(StateWriter& state) const override {
    for (const bool ended : has_ended_) state.put(ended);
    choices_->save(state);
    for (const auto& input : inputs_) input->save(state);
  }
  void restore(StateReader& state) override {
    for (size_t i = 0; i < has_ended_.size(); ++i)
      if (state.get(0, 1)) end(i);
    choices_->restore(state);
    for (const auto& input : inputs_) input->restore(state);
  }

 private:
  void end(size_t number) {
    has_ended_[number] = true;
    ++num_ended_;
    if (draws_) draws_->leave_out(number);
  }
  /// The number of ended inputs that end this stream.
  size_t limit() const { return stop_ ? 1 : inputs_.size(); }

  std::unique_ptr<BatchStream> choices_;
  DrawStream* draws_;  // the choices if they are drawn, else null
  std::vector<std::unique_ptr<BatchStream>> inputs_;
  std::vector<bool> has_ended_;
  size_t num_ended_ = 0;
  bool stop_;
};

class ChooseNode final : public CopiedNode<ChooseNode, ManyInputsNode> {
 public:
  /// The choices are the first input.
  ChooseNode(std::vector<NodePtr> inputs, bool stop_on_empty_dataset)
      : CopiedNode(std::move(inputs)), stop_(stop_on_empty_dataset) {}
  const char* kind() const override { return "Choose"; }
  std::vector<int64_t> parameters() const override { return {stop_}; }
  int64_t cardinality() const override {
    const auto endless = [](const NodePtr& input) {
      return input->cardinality() == kInfiniteCardinality;
    };
    return std::any_of(inputs_.begin() + 1, inputs_.end(), endless) ? kInfiniteCardinality
                                                                    : kUnknownCardinality;
  }
  ElementSpec element_spec() const override {
    ElementSpec spec = inputs_[1]->element_spec();
    for (size_t i = 2; i < inputs_.size(); ++i)
      spec = common_spec(spec, inputs_[i]->element_spec());
    return spec;
  }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    std::vector<std::unique_ptr<BatchStream>> streams;
    for (size_t i = 1; i < inputs_.size(); ++i) streams.push_back(inputs_[i]->elements(pass));
    return std::make_unique<ChooseStream>(inputs_[0]->elements(pass), std::move(streams), stop_);
  }

 private:
  bool stop_;
};

class DrawNode final : public CopiedNode<DrawNode, Node> {
 public:
  DrawNode(std::vector<double> weights, const SampleOptions& options)
      : weights_(std::move(weights)), options_(options) {}
  const char* kind() const override { return "Draw"; }
  std::vector<int64_t> parameters() const override {
    return {int64_t(weights_.size()), int64_t(options_.seed.value_or(0))};
  }
  int64_t cardinality() const override { return kInfiniteCardinality; }
  ElementSpec element_spec() const override { return {{{}, DType::Int64}}; }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    const uint64_t seed = options_.seed ? *options_.seed : ops_internal::global_seed().load();
    const uint64_t number = options_.rerandomize_each_iteration ? pass.number : 0;
    return std::make_unique<DrawStream>(random_key(std::array{seed, number}), weights_);
  }
  PassCount* passes() const override { return &passes_; }

 private:
  std::vector<double> weights_;
  SampleOptions options_;
  mutable PassCount passes_;
};

}  // namespace data_internal

DISTRIBUTE_INLINE NodePtr choose_node(std::vector<NodePtr> inputs, NodePtr choices,
                                      bool stop_on_empty_dataset) {
  if (inputs.empty()) throw InvalidArgumentError("choose_from_datasets: there are no datasets");
  const ElementSpec numbers = choices->element_spec();
  if (numbers.size() != 1 || !numbers[0].shape.empty() || numbers[0].dtype != DType::Int64)
    throw InvalidArgumentError(
        "choose_from_datasets: the choices must be int64 scalars, they are " + to_string(numbers));
  inputs.insert(inputs.begin(), std::move(choices));
  auto node = std::make_shared<data_internal::ChooseNode>(std::move(inputs), stop_on_empty_dataset);
  node->element_spec();  // throws when the elements do not fit
  return node;
}

DISTRIBUTE_INLINE NodePtr sample_node(std::vector<NodePtr> inputs, const SampleOptions& options) {
  std::vector<double> weights = options.weights;
  if (weights.empty()) weights.assign(inputs.size(), 1);
  const bool good = weights.size() == inputs.size() &&
                    std::ranges::all_of(weights, [](double weight) { return weight >= 0; });
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (!good || (!inputs.empty() && !(sum > 0)))
    throw InvalidArgumentError(
        str_cat("sample_from_datasets: needs one weight for each of the ", inputs.size(),
                " datasets, none negative and not all 0; there are ", options.weights.size()));
  for (size_t i = inputs.size(); i-- > 0;)  // an input without weight gives no elements
    if (weights[i] == 0) {
      inputs.erase(inputs.begin() + std::ptrdiff_t(i));
      weights.erase(weights.begin() + std::ptrdiff_t(i));
    }
  auto choices = std::make_shared<data_internal::DrawNode>(std::move(weights), options);
  return choose_node(std::move(inputs), std::move(choices), options.stop_on_empty_dataset);
}

namespace data_internal {

DISTRIBUTE_INLINE std::vector<NodePtr> nodes_of(const std::vector<Dataset>& datasets) {
  std::vector<NodePtr> nodes;
  for (const Dataset& dataset : datasets) nodes.push_back(dataset.node());
  return nodes;
}

}  // namespace data_internal

DISTRIBUTE_INLINE Dataset Dataset::choose_from_datasets(const std::vector<Dataset>& datasets,
                                                        const Dataset& choices,
                                                        bool stop_on_empty_dataset) {
  return Dataset(
      choose_node(data_internal::nodes_of(datasets), choices.node(), stop_on_empty_dataset));
}

DISTRIBUTE_INLINE Dataset Dataset::sample_from_datasets(const std::vector<Dataset>& datasets,
                                                        const SampleOptions& options) {
  return Dataset(sample_node(data_internal::nodes_of(datasets), options));
}

DISTRIBUTE_INLINE Dataset Dataset::sample_from_datasets(const std::vector<Dataset>& datasets) {
  return sample_from_datasets(datasets, {});
}

}  // namespace distribute::data
