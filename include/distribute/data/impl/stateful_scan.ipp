#pragma once
#include <distribute/base/error.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/data/detail/element_record.hpp>
#include <distribute/data/detail/stateful.hpp>

#include <cstring>
#include <mutex>
#include <string>

namespace distribute::data {

namespace data_internal {

/// Puts a tensor into a position: the number of its bytes as a record, and these, eight at a time.
DISTRIBUTE_INLINE void put_tensor(StateWriter& state, const Tensor& tensor) {
  const std::string record = tensor_record(tensor);
  std::vector<int64_t> words((record.size() + 7) / 8, 0);
  std::memcpy(words.data(), record.data(), record.size());
  state.put(int64_t(record.size()));
  state.put(words);
}

DISTRIBUTE_INLINE Tensor get_tensor(StateReader& state) {
  constexpr int64_t kMost = int64_t{1} << 40;
  const int64_t size = state.get(0, kMost);
  std::string record;
  while (int64_t(record.size()) < size) {
    const int64_t word = state.get(INT64_MIN);
    record.append(reinterpret_cast<const char*>(&word), sizeof(word));
  }
  record.resize(size_t(size));
  return tensor_of_record(record, "the saved state of a scan");
}

/// The state is a part of the position.
class ScanStream final : public BatchStream {
 public:
  ScanStream(std::unique_ptr<BatchStream> input, const Batch& initial, const ScanFunction& function)
      : input_(std::move(input)), state_(initial), function_(function) {}
  bool next(Batch& out) override {
    Batch element;
    if (!input_->next(element)) return false;
    auto [state, result] = function_(state_, element);
    check(state);
    state_ = std::move(state);
    out = std::move(result);
    return true;
  }
  void save(StateWriter& state) const override {
    for (size_t i = 0; i < state_.size(); ++i) put_tensor(state, state_[i]);
    input_->save(state);
  }
  void restore(StateReader& state) override {
    std::vector<Tensor> components;
    while (components.size() < state_.size()) components.push_back(get_tensor(state));
    Batch restored = state_.with_components(std::move(components));
    check(restored);
    state_ = std::move(restored);
    input_->restore(state);
  }

 private:
  void check(const Batch& state) const {
    bool fits = state.size() == state_.size();
    for (size_t i = 0; fits && i < state.size(); ++i) fits = state[i].dtype() == state_[i].dtype();
    if (!fits)
      throw InvalidArgumentError("scan: the types of the new state, " + to_string(spec_of(state)) +
                                 ", must match the initial state, " + to_string(spec_of(state_)));
  }

  std::unique_ptr<BatchStream> input_;
  Batch state_;
  const ScanFunction& function_;
};

class ScanNode final : public OneInputNode {
 public:
  ScanNode(NodePtr input, Batch initial, ScanFunction function, std::optional<ElementSpec> spec)
      : OneInputNode(std::move(input)),
        initial_(std::move(initial)),
        function_(std::move(function)),
        given_spec_(std::move(spec)) {}
  const char* kind() const override { return "Scan"; }
  NodePtr with_inputs(std::vector<NodePtr> inputs) const override {
    return scan_node(inputs.at(0), initial_, function_, given_spec_);
  }
  ElementSpec element_spec() const override {
    if (given_spec_) return *given_spec_;
    std::call_once(spec_once_, [&] {
      spec_ = spec_of_results(
          input(), "scan", [&](const Batch& first) { return function_(initial_, first).second; });
    });
    return spec_;
  }
  /// Results may grow with the state.
  bool spec_is_exact() const override { return given_spec_.has_value(); }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    return std::make_unique<ScanStream>(input().elements(pass), initial_, function_);
  }

 private:
  Batch initial_;
  ScanFunction function_;
  std::optional<ElementSpec> given_spec_;
  mutable std::once_flag spec_once_;
  mutable ElementSpec spec_;
};

}  // namespace data_internal

DISTRIBUTE_INLINE NodePtr scan_node(NodePtr input, Batch initial_state, ScanFunction function,
                                    std::optional<ElementSpec> output_spec) {
  return std::make_shared<data_internal::ScanNode>(std::move(input), std::move(initial_state),
                                                   std::move(function), std::move(output_spec));
}

DISTRIBUTE_INLINE Dataset
Dataset::scan_batches(Batch initial_state,
                      std::function<std::pair<Batch, Batch>(const Batch&, const Batch&)> scan_func,
                      std::optional<ElementSpec> output_spec) const {
  return Dataset(
      scan_node(node_, std::move(initial_state), std::move(scan_func), std::move(output_spec)));
}

}  // namespace distribute::data
