#pragma once
#include <distribute/data/dataset.hpp>
#include <distribute/data/detail/fruitless.hpp>
#include <distribute/data/grouping.hpp>
#include <distribute/data/random.hpp>
#include <distribute/ops/detail/global_seed.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>

namespace distribute::data {

namespace data_internal {

struct Resampling {
  std::function<int64_t(const Batch&)> class_func;
  std::vector<float> target;
  ResampleOptions options;

  int64_t class_of(const Batch& element) const {
    const int64_t number = class_func(element);
    if (number < 0 || number >= int64_t(target.size()))
      throw InvalidArgumentError(str_cat("rejection_resample: the class ", number,
                                         " of an element is not in [0, ", target.size(), ")"));
    return number;
  }
  /// The rates of a given initial distribution.
  std::optional<ResampleRates> fixed_rates() const {
    if (options.initial_dist.empty()) return std::nullopt;
    return resample_rates(options.initial_dist, target);
  }
};

/// Gives the rates for element after element. Where they are estimated, a pass over the dataset
/// counts the classes of 32 elements at a time.
class RateStream {
 public:
  RateStream(const Node& input, const Pass& pass, const Resampling& resampling)
      : resampling_(resampling), rates_(resampling.fixed_rates()) {
    if (rates_) return;
    input_ = input.elements(pass);
    counts_.assign(resampling.target.size(), kCountedBefore);
  }
  /// Null at the end.
  const ResampleRates* next() {
    if (input_ && left_ == 0 && !count_more()) return nullptr;
    if (input_) --left_;
    return &*rates_;
  }
  void save(StateWriter& state) const {
    if (!input_) return;
    state.put(left_);
    state.put(counts_);
    input_->save(state);
  }
  void restore(StateReader& state) {
    if (!input_) return;
    left_ = state.get(0, kElements);
    for (int64_t& count : counts_) count = state.get(kCountedBefore);
    input_->restore(state);
    set_rates();
  }

 private:
  static constexpr int64_t kElements = 32, kCountedBefore = 10;

  bool count_more() {
    int64_t read = 0;
    for (Batch element; read < kElements && input_->next(element); ++read)
      ++counts_[size_t(resampling_.class_of(element))];
    left_ = kElements;
    if (read > 0) set_rates();
    return read > 0;
  }
  void set_rates() {
    const double all = double(std::accumulate(counts_.begin(), counts_.end(), int64_t{0}));
    std::vector<float> estimate;
    for (const int64_t count : counts_) estimate.push_back(float(double(count) / all));
    rates_ = resample_rates(estimate, resampling_.target);
  }

  const Resampling& resampling_;
  std::optional<ResampleRates> rates_;
  std::unique_ptr<BatchStream> input_;  // null where the initial distribution is given
  std::vector<int64_t> counts_;
  int64_t left_ = 0;  // elements that the rates still hold for
};

/// Takes elements from two passes over the dataset: all of one, and of the other those that pass a
/// random choice.
class ResampleStream final : public BatchStream {
 public:
  ResampleStream(const Node& input, const Pass& pass, const Resampling& resampling, uint64_t key)
      : resampling_(resampling),
        all_(input.elements(pass)),
        candidates_(input.elements(pass)),
        mixing_(input, pass, resampling),
        accepting_(input, pass, resampling),
        key_(key) {}
  bool next(Batch& out) override {
    if (ended_) return false;
    const ResampleRates* rates = mixing_.next();
    ended_ = !rates || !(draw_below(rates->original) ? take_any(out) : take_accepted(out));
    return !ended_;
  }
  void save(StateWriter& state) const override {
    state.put(ended_);
    state.put(drawn_);
    all_->save(state);
    candidates_->save(state);
    mixing_.save(state);
    accepting_.save(state);
  }
  void restore(StateReader& state) override {
    ended_ = state.get(0, 1);
    drawn_ = state.get();
    all_->restore(state);
    candidates_->restore(state);
    mixing_.restore(state);
    accepting_.restore(state);
  }

 private:
  /// True with this probability.
  bool draw_below(float probability) {
    constexpr int64_t kSteps = int64_t{1} << 24;
    return float(draw(key_, drawn_++, kSteps)) / float(kSteps) < probability;
  }
  bool take_any(Batch& out) {
    Batch element;
    if (!all_->next(element)) return false;
    out = with_class(resampling_.class_of(element), element);
    return true;
  }
  bool take_accepted(Batch& out) {
    FruitlessSteps fruitless("rejection_resample: elements were rejected");
    for (Batch element; candidates_->next(element); fruitless.add()) {
      const ResampleRates* rates = accepting_.next();
      const int64_t number = resampling_.class_of(element);
      if (!draw_below(rates->acceptance[size_t(number)])) continue;
      out = with_class(number, element);
      return true;
    }
    return false;
  }
  static Batch with_class(int64_t number, const Batch& element) {
    std::vector<Tensor> components = element.components();
    components.insert(components.begin(), Tensor(int32_t(number)));
    return Batch::from_components(std::move(components), join_names({Batch{Tensor(0)}, element}));
  }

  const Resampling& resampling_;
  std::unique_ptr<BatchStream> all_, candidates_;
  RateStream mixing_, accepting_;
  uint64_t key_;
  int64_t drawn_ = 0;
  bool ended_ = false;
};

class ResampleNode final : public CopiedNode<ResampleNode> {
 public:
  ResampleNode(NodePtr input, Resampling resampling)
      : CopiedNode(std::move(input)), resampling_(std::move(resampling)) {}
  const char* kind() const override { return "RejectionResample"; }
  std::vector<int64_t> parameters() const override {
    return {int64_t(resampling_.target.size()), int64_t(resampling_.options.seed.value_or(0)),
            !resampling_.options.initial_dist.empty()};
  }
  int64_t cardinality() const override { return unknown_unless_infinite(); }
  ElementSpec element_spec() const override {
    ElementSpec spec = input().element_spec();
    spec.insert(spec.begin(), TensorSpec{.dtype = DType::Int32});
    return spec;
  }
  PassCount* passes() const override { return &passes_; }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    const std::optional<uint64_t>& own = resampling_.options.seed;
    const uint64_t seed = own ? *own : ops_internal::global_seed().load();
    return std::make_unique<ResampleStream>(input(), pass, resampling_,
                                            random_key(std::array{seed, pass.number}));
  }

 private:
  Resampling resampling_;
  mutable PassCount passes_;
};

}  // namespace data_internal

DISTRIBUTE_INLINE ResampleRates resample_rates(const std::vector<float>& initial_dist,
                                               const std::vector<float>& target_dist) {
  ResampleRates rates;
  for (size_t i = 0; i < target_dist.size(); ++i)
    rates.acceptance.push_back(target_dist[i] /
                               (initial_dist[i] + std::numeric_limits<float>::min()));
  const auto [least, most] = std::ranges::minmax(rates.acceptance);
  rates.original = least;
  for (float& rate : rates.acceptance) rate = (rate - least) / (most - least);
  return rates;
}

DISTRIBUTE_INLINE NodePtr rejection_resample_node(NodePtr input,
                                                  std::function<int64_t(const Batch&)> class_func,
                                                  std::vector<float> target_dist,
                                                  const ResampleOptions& options) {
  const auto good = [](const std::vector<float>& dist) {
    return std::ranges::all_of(dist, [](float share) { return share >= 0; });
  };
  const bool fits =
      options.initial_dist.empty() || options.initial_dist.size() == target_dist.size();
  if (target_dist.empty() || !fits || !good(target_dist) || !good(options.initial_dist))
    throw InvalidArgumentError(
        str_cat("rejection_resample: target_dist and initial_dist need a share of each class, none "
                "negative; they have ",
                target_dist.size(), " and ", options.initial_dist.size()));
  return std::make_shared<data_internal::ResampleNode>(
      std::move(input),
      data_internal::Resampling{std::move(class_func), std::move(target_dist), options});
}

DISTRIBUTE_INLINE Dataset
Dataset::rejection_resample(std::function<int64_t(const Batch&)> class_func,
                            std::vector<float> target_dist, const ResampleOptions& options) const {
  return Dataset(
      rejection_resample_node(node_, std::move(class_func), std::move(target_dist), options));
}

DISTRIBUTE_INLINE Dataset Dataset::rejection_resample(
    std::function<int64_t(const Batch&)> class_func, std::vector<float> target_dist) const {
  return rejection_resample(std::move(class_func), std::move(target_dist), {});
}

}  // namespace distribute::data
