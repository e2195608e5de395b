#pragma once
#include <distribute/base/error.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/data/element_spec.hpp>
#include <distribute/data/grouping.hpp>

#include <algorithm>
#include <map>
#include <mutex>

namespace distribute::data {

namespace data_internal {

/// Adds each element of group_by_reducer() to the state of its key.
struct KeyedReducer {
  std::function<int64_t(const Batch&)> key;
  Reducer reducer;
  void add(const Batch& element, std::map<int64_t, Batch>& states) const {
    const int64_t at = key(element);
    auto found = states.find(at);
    if (found == states.end()) found = states.emplace(at, reducer.init_func(at)).first;
    found->second = reducer.reduce_func(found->second, element);
  }
};

/// Its position is the number of results that were given; the elements are then read again.
class ReducerStream final : public BatchStream {
 public:
  ReducerStream(std::unique_ptr<BatchStream> input, const KeyedReducer& keyed)
      : input_(std::move(input)), keyed_(keyed) {}
  bool next(Batch& out) override {
    for (Batch element; input_;)
      if (input_->next(element))
        keyed_.add(element, states_);
      else
        input_.reset();
    if (states_.empty()) return false;
    ++given_;
    out = keyed_.reducer.finalize_func(states_.extract(states_.begin()).mapped());
    return true;
  }
  void save(StateWriter& state) const override { state.put(given_); }
  void restore(StateReader& state) override { replay(state.get()); }

 private:
  std::unique_ptr<BatchStream> input_;  // null when it has ended
  const KeyedReducer& keyed_;
  std::map<int64_t, Batch> states_;
  int64_t given_ = 0;
};

class ReducerNode final : public OneInputNode {
 public:
  ReducerNode(NodePtr input, KeyedReducer keyed)
      : OneInputNode(std::move(input)), keyed_(std::move(keyed)) {}
  const char* kind() const override { return "GroupByReducer"; }
  NodePtr with_inputs(std::vector<NodePtr> inputs) const override {
    return std::make_shared<ReducerNode>(inputs.at(0), keyed_);
  }
  int64_t cardinality() const override { return kUnknownCardinality; }
  ElementSpec element_spec() const override {
    std::call_once(spec_once_, [&] {
      Batch first;
      if (!input().elements({.number = kSpecPass})->next(first))
        throw FailedPreconditionError(
            "group_by_reducer: the dataset is empty, so its results are unknown");
      std::map<int64_t, Batch> states;
      keyed_.add(first, states);
      spec_ = spec_of(keyed_.reducer.finalize_func(states.begin()->second));
    });
    return spec_;
  }
  bool spec_is_exact() const override { return false; }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    return std::make_unique<ReducerStream>(input().elements(pass), keyed_);
  }

 private:
  KeyedReducer keyed_;
  mutable std::once_flag spec_once_;
  mutable ElementSpec spec_;
};

DISTRIBUTE_INLINE void check_padding(const Dataset& dataset, int64_t cardinality,
                                     const std::string& mask_key) {
  const int64_t now = dataset.cardinality();
  if (now < 0)
    throw InvalidArgumentError(
        "pad_to_cardinality: the number of elements must be known; call assert_cardinality");
  if (now > cardinality)
    throw InvalidArgumentError(
        str_cat("pad_to_cardinality: the dataset has ", now, " elements, more than ", cardinality));
  const ElementSpec spec = dataset.element_spec();
  if (!is_static(spec))
    throw InvalidArgumentError("pad_to_cardinality: elements must have fixed shapes, not " +
                               to_string(spec));
  for (const TensorSpec& part : spec) {
    if (part.name.empty())
      throw InvalidArgumentError(
          "pad_to_cardinality: the components of the elements need names, as of a TensorMap");
    if (part.name == mask_key)
      throw InvalidArgumentError(str_cat("pad_to_cardinality: the elements have a component \"",
                                         mask_key, "\" already; give another mask_key"));
  }
}

}  // namespace data_internal

DISTRIBUTE_INLINE std::function<Dataset(const Dataset&)> group_by_reducer(
    std::function<int64_t(const Batch&)> key_func, Reducer reducer) {
  return [keyed = data_internal::KeyedReducer{std::move(key_func), std::move(reducer)}](
             const Dataset& dataset) {
    require_end(dataset.cardinality(), "group_by_reducer", "it `.take(count)`");
    return Dataset(std::make_shared<data_internal::ReducerNode>(dataset.node(), keyed));
  };
}

DISTRIBUTE_INLINE std::function<Dataset(const Dataset&)> pad_to_cardinality(int64_t cardinality,
                                                                            std::string mask_key) {
  return [cardinality, mask_key = std::move(mask_key)](const Dataset& dataset) {
    data_internal::check_padding(dataset, cardinality, mask_key);
    const auto with_mask = [mask_key](bool valid) {
      return [mask_key, valid](const Batch& element) {
        TensorMap all = element;
        all[mask_key] = Tensor(valid);
        return to_batch(all);
      };
    };
    TensorMap zero;
    for (const TensorSpec& part : dataset.element_spec())
      zero[part.name] = zeros(Shape(std::span<const int64_t>(part.shape)), part.dtype);
    const MapOptions options{.output_spec = spec_of(with_mask(true)(to_batch(zero)))};
    const Dataset all = dataset.map(with_mask(true), options);
    const int64_t missing = cardinality - dataset.cardinality();
    if (missing == 0) return all;
    return all.concatenate(
        Dataset::from_tensors(zero).repeat(missing).map(with_mask(false), options));
  };
}

}  // namespace distribute::data
