#pragma once
#include <distribute/base/cancellation.hpp>
#include <distribute/base/metrics.hpp>
#include <distribute/data/detail/pipeline_facts.hpp>
#include <distribute/data/iterator.hpp>

#include <utility>

namespace distribute::data {

DISTRIBUTE_INLINE Iterator::Iterator(NodePtr dataset)
    : dataset_(std::move(dataset)),
      pass_{take_pass(*dataset_)},
      stream_(dataset_->elements(pass_)) {}

DISTRIBUTE_INLINE Iterator& Iterator::operator=(Iterator&& other) noexcept {
  std::swap(dataset_, other.dataset_);
  std::swap(pass_, other.pass_);
  std::swap(stream_, other.stream_);
  return *this;
}

/// Components that share their first axis are a batch, anything else is one example.
DISTRIBUTE_INLINE int64_t examples_in(const Batch& element) {
  for (size_t i = 0; i < element.size(); ++i)
    if (element[i].shape().rank() == 0 || element[i].shape()[0] != element.x.shape()[0]) return 1;
  return element.size() > 0 ? element.x.shape()[0] : 0;
}

/// Asks the stream, and counts how long that took and what it gave.
DISTRIBUTE_INLINE bool take_element(BatchStream& stream, Batch& element) {
  monitoring::LibraryMetrics& metrics = monitoring::metrics();
  const monitoring::Waiting waiting(metrics.wait_input);
  if (!stream.next(element)) return false;
  metrics.input_examples.increment_by(examples_in(element));
  return true;
}

DISTRIBUTE_INLINE Batch Iterator::next() {
  throw_if_cancelled();
  Batch element;
  if (!take_element(*stream_, element)) throw OutOfRangeError("the end of the dataset is reached");
  return element;
}

DISTRIBUTE_INLINE std::optional<Batch> Iterator::get_next_as_optional() {
  throw_if_cancelled();
  std::optional<Batch> element(std::in_place);
  if (!take_element(*stream_, *element)) element.reset();
  return element;
}

DISTRIBUTE_INLINE Tensor Iterator::state() const {
  StateWriter state;
  state.put(fingerprint(*dataset_));
  state.put(int64_t(pass_.number));
  stream_->save(state);
  state.put(data_internal::pipeline_facts(*dataset_));
  return Tensor(Shape{int64_t(state.values().size())}, state.values());
}

DISTRIBUTE_INLINE void Iterator::restore(const Tensor& state) {
  const auto [position, saved] = data_internal::split_facts(state.data<int64_t>());
  StateReader reader(position);
  if (reader.get() != fingerprint(*dataset_))
    throw InvalidArgumentError(data_internal::what_changed(saved, *dataset_));
  const Pass pass{uint64_t(reader.get())};
  auto stream = dataset_->elements(pass);
  stream->restore(reader);
  if (!reader.at_end()) throw InvalidArgumentError("the saved position is too long");
  stream_ = std::move(stream);
  pass_ = pass;
  set_next_pass(*dataset_, pass.number + 1);
}

}  // namespace distribute::data
