#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/recurrent_cells.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/detail/recurrent_cells.hpp>

#include <utility>

namespace distribute::nn {

/// The cells of a stack.
class StackedRNNCells::List : public ModuleListBase {
 public:
  void append(std::unique_ptr<RNNCell> cell) { add_element(std::move(cell)); }
  RNNCell& operator[](size_t index) const { return static_cast<RNNCell&>(child(index)); }
  void number() { number_parts_in_order(); }
};

DISTRIBUTE_INLINE StackedRNNCells::StackedRNNCells(std::vector<std::unique_ptr<RNNCell>> cells,
                                                   std::string name)
    : RNNCell(std::move(name)), cells_(&add("cells", List())) {
  if (cells.empty()) throw InvalidArgumentError("StackedRNNCells: there are no cells");
  for (auto& cell : cells) cells_->append(std::move(cell));
  cells_->number();
}

DISTRIBUTE_INLINE size_t StackedRNNCells::size() const { return cells_->size(); }
DISTRIBUTE_INLINE RNNCell& StackedRNNCells::cell(size_t index) const { return (*cells_)[index]; }

DISTRIBUTE_INLINE std::vector<int64_t> StackedRNNCells::state_size() const {
  std::vector<int64_t> all;
  for (size_t i = 0; i < size(); ++i)
    for (const int64_t one : cell(i).state_size()) all.push_back(one);
  return all;
}

DISTRIBUTE_INLINE std::vector<Tensor> StackedRNNCells::get_initial_state(const Tensor& x) const {
  std::vector<Tensor> all;
  for (size_t i = 0; i < size(); ++i)
    for (Tensor& state : cell(i).get_initial_state(x)) all.push_back(std::move(state));
  return all;
}

DISTRIBUTE_INLINE std::unique_ptr<RNNCell> StackedRNNCells::clone() const {
  std::vector<std::unique_ptr<RNNCell>> cells;
  for (size_t i = 0; i < size(); ++i) cells.push_back(cell(i).clone());
  return std::make_unique<StackedRNNCells>(std::move(cells), name());
}

DISTRIBUTE_INLINE void StackedRNNCells::build(const Shape& input) {
  Shape inputs = input;
  for (size_t i = 0; i < size(); ++i) {
    cell(i).ensure_built(inputs);
    inputs = {input[0], cell(i).output_size()};
  }
}

namespace nn_internal {

/// The next states of a list, as many as the cell has.
DISTRIBUTE_INLINE std::vector<Tensor> take_states(const RNNCell& cell,
                                                  const std::vector<Tensor>& states, size_t& at) {
  if (states.empty()) return {};
  const size_t begin = std::exchange(at, at + cell.state_size().size());
  return {states.begin() + std::ptrdiff_t(begin), states.begin() + std::ptrdiff_t(at)};
}

}  // namespace nn_internal

DISTRIBUTE_INLINE RecurrentResult StackedRNNCells::call(const Tensor& x,
                                                        const std::vector<Tensor>& states,
                                                        CallOptions options) {
  RecurrentResult all{x, {}};
  size_t at = 0;
  for (size_t i = 0; i < size(); ++i) {
    RecurrentResult one =
        cell(i)(all.output, nn_internal::take_states(cell(i), states, at), options);
    all.output = std::move(one.output);
    for (Tensor& state : one.states) all.states.push_back(std::move(state));
  }
  return all;
}

/// One cell after the other over the whole sequence. A masked step changes no state, so it does not
/// matter what a cell gives there to the next.
DISTRIBUTE_INLINE RecurrentResult StackedRNNCells::run(const Run& sequence,
                                                       const CallOptions& options) {
  Run rest = sequence;
  rest.go_backwards = false;
  if (sequence.go_backwards) {
    rest.x = reverse(sequence.x, {1});
    if (sequence.mask) rest.mask = reverse(sequence.mask, {1});
  }
  RecurrentResult all;
  size_t at = 0;
  for (size_t i = 0; i < size(); ++i) {
    rest.return_sequences = i + 1 < size() || sequence.return_sequences;
    rest.states = nn_internal::take_states(cell(i), sequence.states, at);
    RecurrentResult one = cell(i).run(rest, options);
    rest.x = all.output = std::move(one.output);
    for (Tensor& state : one.states) all.states.push_back(std::move(state));
  }
  return all;
}

DISTRIBUTE_INLINE RNN::RNN(std::unique_ptr<RNNCell> cell, RNNOptions options)
    : RecurrentBase(options.name, options.return_sequences, options.go_backwards, options.stateful),
      options_(std::move(options)),
      cell_(cell.get()) {
  set_activity_regularizer(options_.activity_regularizer);
  add_child("", std::move(cell));
}

DISTRIBUTE_INLINE void RNN::check(const Tensor& x, const Tensor& mask) const {
  const Shape& s = x.shape();
  if (s.rank() < 3 || s[1] < 1)
    throw InvalidArgumentError(str_cat("layer '", name(), "' takes [batch, steps, inputs] with at ",
                                       "least one step, got ", to_string(s)));
  if (mask && (mask.shape() != Shape{s[0], s[1]} || mask.dtype() != DType::Bool))
    throw InvalidArgumentError(str_cat("layer '", name(), "': the mask is ", name_of(mask.dtype()),
                                       " ", to_string(mask.shape()), ", wanted bool ",
                                       to_string(Shape{s[0], s[1]})));
}

DISTRIBUTE_INLINE void RNN::build(const Shape& input) {
  if (input.rank() < 3)
    throw InvalidArgumentError(
        str_cat("layer '", name(), "' takes [batch, steps, inputs], got ", to_string(input)));
  std::vector<int64_t> sizes(input.dims().begin(), input.dims().end());
  sizes.erase(sizes.begin() + 1);
  cell_->ensure_built(Shape(std::span<const int64_t>(sizes)));
}

DISTRIBUTE_INLINE RecurrentResult RNN::run(const Tensor& x, const std::vector<Tensor>& initial,
                                           const CallOptions& options) {
  check(x, options.mask);
  if (!initial.empty() && initial.size() != cell_->state_size().size())
    throw InvalidArgumentError(str_cat("layer '", name(), "' got ", initial.size(),
                                       " initial states, wanted ", cell_->state_size().size()));
  RecurrentResult result = cell_->run({x, initial, options.mask, options_.return_sequences,
                                       options_.go_backwards, options_.zero_output_for_mask},
                                      options);
  result.output = autocast(result.output);
  for (Tensor& state : result.states) state = autocast(state);
  return result;
}

DISTRIBUTE_INLINE std::unique_ptr<RecurrentBase> RNN::for_direction(bool turned,
                                                                    std::string name) const {
  RNNOptions options = options_;
  if (turned) options.go_backwards = !options.go_backwards;
  options.zero_output_for_mask = options.return_sequences;
  options.name = std::move(name);
  return std::make_unique<RNN>(cell_->clone(), std::move(options));
}

}  // namespace distribute::nn
