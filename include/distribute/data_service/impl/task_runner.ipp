#pragma once
#include <distribute/data_service/detail/service_metrics.hpp>
#include <distribute/data_service/detail/task_runner.hpp>
#include <distribute/device/buffer.hpp>
#include <distribute/io/compression.hpp>

#include <algorithm>
#include <chrono>

namespace distribute::data::service_internal {

/// Asks the dispatcher, which knows the splits that an earlier worker of the task was given.
class TaskRunner::Splits final : public SplitSource {
 public:
  Splits(const TaskOrder& order, std::shared_ptr<DispatcherCalls> calls)
      : request_{order.iteration, order.task, order.generation, 0, 0}, calls_(std::move(calls)) {}
  SplitAnswer next(int64_t repetition) override {
    request_.repetition = repetition;
    request_.number = given_[repetition];
    try {
      const auto answer = calls_->call<SplitAnswer>("split", request_);
      ++given_[repetition];
      return answer;
    } catch (const Error& error) {  // no error of the pipeline
      throw CancelledError(error.what());
    }
  }

 private:
  SplitRequest request_;
  std::shared_ptr<DispatcherCalls> calls_;
  std::map<int64_t, int64_t> given_;
};

DISTRIBUTE_INLINE TaskRunner::TaskRunner(TaskOrder order, std::shared_ptr<DispatcherCalls> calls,
                                         int64_t cache_bytes)
    : order_(std::move(order)), cache_bytes_(cache_bytes), calls_(std::move(calls)) {}

DISTRIBUTE_INLINE void TaskRunner::open() {
  node_ = pipeline_of(order_, registered_dataset(order_.dataset),
                      std::make_shared<Splits>(order_, calls_));
  // Shards need one order of all workers; else each task has an order of its own.
  Pass pass = pass_over(*node_, order_.pass);
  const bool own_order =
      order_.mode == ShardingPolicy::Off || order_.mode == ShardingPolicy::Dynamic;
  if (own_order) pass.number = mix_bits(mix_bits(order_.pass) + uint64_t(order_.task)) >> 1;
  stream_ = node_->elements(pass);
  if (order_.save.path.empty()) return;
  const int64_t saved = order_.delivered.count();
  next_ = stream_->skip(saved);
  if (next_ < saved)
    throw FailedPreconditionError(str_cat("the pipeline has given ", saved,
                                          " elements before, and only ", next_,
                                          " when it was run again; it must give the same ones"));
}

inline constexpr int64_t kEnoughBytes = 1 << 20;  // of one answer
inline constexpr std::chrono::milliseconds kLongEnough{5};

/// Returns false at the end, and after an error.
DISTRIBUTE_INLINE bool TaskRunner::add_next(ElementsAnswer& answer, int64_t& bytes) {
  Batch element;
  try {
    if (!stream_) open();
    ended_ = ended_ || !stream_->next(element);
    answer.ended = ended_;
    if (ended_) return false;
  } catch (const CancelledError&) {
    throw;
  } catch (const std::exception& thrown) {
    const auto* error = dynamic_cast<const Error*>(&thrown);
    // A pipeline that cannot be made has no further elements.
    ended_ = !stream_;
    const int64_t number = next_++;
    if (order_.delivered.contains(number)) return true;
    answer.code = error ? error->code() : StatusCode::Unknown;
    answer.error = thrown.what();
    answer.error_number = number;
    return false;
  }
  const int64_t number = next_++;
  if (order_.delivered.contains(number)) return true;
  NumberedElement made{.number = number, .components = element.components()};
  if (element.names) made.names = *element.names;
  for (const Tensor& component : made.components)
    bytes += component.num_elements() * size_of(component.dtype());
  answer.elements.push_back(std::move(made));
  return true;
}

DISTRIBUTE_INLINE ElementsAnswer TaskRunner::make(int64_t most) {
  const auto began = std::chrono::steady_clock::now();
  ElementsAnswer answer;
  for (int64_t bytes = 0; add_next(answer, bytes);) {
    if (answer.elements.empty()) continue;
    if (int64_t(answer.elements.size()) >= most || bytes >= kEnoughBytes) break;
    if (std::chrono::steady_clock::now() - began > kLongEnough) break;
  }
  return answer;
}

/// Keeps the elements before it for the other consumers.
DISTRIBUTE_INLINE ElementsAnswer TaskRunner::make_element(int64_t number) {
  constexpr size_t kMostRounds = 64;
  for (int64_t unused = 0; next_ <= number && !ended_;) {
    if (kept_.size() >= kMostRounds * size_t(order_.num_consumers))
      throw CancelledError("the other consumers are far behind");
    const int64_t next = next_;
    ElementsAnswer answer;
    add_next(answer, unused);
    if (!order_.delivered.contains(next)) kept_[next] = std::move(answer);
  }
  const auto found = kept_.find(number);
  if (found == kept_.end() && number >= next_) return {.ended = true};
  if (found == kept_.end())
    return {.code = StatusCode::FailedPrecondition,
            .error =
                "an earlier reader with this consumer_index has had the element; readers that "
                "step together begin a pass together",
            .error_number = number};
  ElementsAnswer answer = std::move(found->second);
  kept_.erase(found);
  return answer;
}

/// Makes room by the oldest elements, but keeps the new one.
DISTRIBUTE_INLINE void TaskRunner::add_to_cache() {
  Cache::Entry entry;
  add_next(entry.element, entry.bytes);
  if (ended_ && entry.element.code == StatusCode::Ok) return;
  cache_.bytes += entry.bytes;
  cache_.entries.push_back(std::move(entry));
  while (cache_.entries.size() > 1 &&
         (cache_.bytes > cache_bytes_ || !host_memory_shortage().empty())) {
    cache_.bytes -= cache_.entries.front().bytes;
    cache_.entries.pop_front();
    ++cache_.begin;
  }
}

/// A trainer that comes new begins with the oldest element that is there.
DISTRIBUTE_INLINE ElementsAnswer TaskRunner::read_cache(const std::string& trainer, int64_t most) {
  const auto began = std::chrono::steady_clock::now();
  int64_t& at = cache_.positions.try_emplace(trainer, cache_.begin).first->second;
  ElementsAnswer answer;
  for (int64_t bytes = 0; int64_t(answer.elements.size()) < most && bytes < kEnoughBytes;) {
    if (at < cache_.begin) worker_metrics().skipped.increment_by(cache_.begin - at);
    at = std::max(at, cache_.begin);
    if (at == cache_.begin + int64_t(cache_.entries.size())) {
      if (!answer.elements.empty() && std::chrono::steady_clock::now() - began > kLongEnough) break;
      add_to_cache();
      answer.ended = at == cache_.begin + int64_t(cache_.entries.size());
      if (answer.ended) break;
    }
    const Cache::Entry& entry = cache_.entries[size_t(at++ - cache_.begin)];
    if (entry.element.code != StatusCode::Ok) {
      if (!answer.elements.empty())
        --at;
      else
        answer = entry.element;
      break;
    }
    answer.elements.push_back(entry.element.elements.at(0));
    bytes += entry.bytes;
  }
  return answer;
}

DISTRIBUTE_INLINE ElementsAnswer TaskRunner::next_elements(int64_t most) {
  const std::lock_guard lock(mutex_);
  return make(most);
}

DISTRIBUTE_INLINE std::string TaskRunner::elements(const ElementsRequest& request) {
  const std::lock_guard lock(mutex_);
  auto& [number, answer] = last_[request.consumer];
  if (number == request.number && !answer.empty()) return answer;
  const ElementsAnswer made = order_.cached         ? read_cache(request.trainer, request.most)
                              : request.element < 0 ? make(request.most)
                                                    : make_element(request.element);
  answer = net::encode_message(made);
  if (request.zlib) answer = io::compress_zlib(answer);
  number = request.number;
  worker_metrics().elements.increment_by(int64_t(made.elements.size()));
  worker_metrics().bytes.increment_by(int64_t(answer.size()));
  return answer;
}

}  // namespace distribute::data::service_internal
