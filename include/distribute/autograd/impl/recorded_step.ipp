#pragma once
#include <distribute/autograd/detail/recorded_step.hpp>
#include <distribute/autograd/variable.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/device/detail/cuda_graph.hpp>
#include <distribute/device/detail/cuda_memory.hpp>
#include <distribute/device/detail/cuda_module.hpp>
#include <distribute/device/detail/kernel_arguments.hpp>
#include <distribute/device/detail/transposed_filter_cache.hpp>

#include <algorithm>
#include <cstring>

namespace distribute {

namespace autograd_internal {

inline constexpr char kNumbersText[] =
#include <distribute/device/kernels/numbers.cu.inc>
    ;
inline constexpr size_t kMostNumbers = 2048;  // number of entries with 8 bytes each

DISTRIBUTE_INLINE RecordedStep*& recording() {
  return base_internal::in_thread_context<base_internal::ContextPlace{3, 2}, RecordedStep*>();
}

DISTRIBUTE_INLINE void refuse_in_recording(const std::string& what) {
  if (RecordedStep::current())
    throw FailedPreconditionError(what + " in a step that is being recorded");
}

/// While it lives, the thread records `step`.
struct RecordingScope {
  explicit RecordingScope(RecordedStep* step) { recording() = step; }
  ~RecordingScope() { recording() = nullptr; }
  RecordingScope(const RecordingScope&) = delete;
};

DISTRIBUTE_INLINE size_t bytes_of(const Tensor& value) {
  return size_t(value.num_elements() * size_of(value.dtype()));
}

}  // namespace autograd_internal

struct RecordedStep::Place {
  std::shared_ptr<VariableImpl> variable;
  int component;
  const char* data;
  size_t bytes;
  std::string on_host = {};  // the elements of a variable in host memory
  Tensor before = {};        // used while the step is recorded
  bool is_written = false;

  bool contains(const char* other) const { return other >= data && other < data + bytes; }
  Tensor value() const { return variable->component(component); }
  void set(Tensor value) const { variable->set_component(component, std::move(value)); }
  bool is_host() const { return !is_gpu(before.device()); }
  std::string name() const { return str_cat("variable '", variable->options().name, "'"); }
};

DISTRIBUTE_INLINE RecordedStep* RecordedStep::current() { return autograd_internal::recording(); }
DISTRIBUTE_INLINE RecordedStep::Pause::Pause()
    : paused_(std::exchange(autograd_internal::recording(), nullptr)) {}
DISTRIBUTE_INLINE RecordedStep::Pause::~Pause() { autograd_internal::recording() = paused_; }

DISTRIBUTE_INLINE RecordedStep::RecordedStep(Device device, const std::function<void()>& step,
                                             RecordedReplica replica)
    : device_(device),
      replica_(replica),
      graph_life_(std::make_shared<CudaGraphLife>()),
      numbers_(Tensor::empty({int64_t(autograd_internal::kMostNumbers)}, DType::Int64, device)) {
  autograd_internal::refuse_in_recording("another step is recorded");
  try {
    const auto record = [&] {
      {
        const autograd_internal::RecordingScope recording(this);
        step();
      }
      put_back();
      for (const Place& place : places_)
        device_internal::transposed_filter_cache(device_).let_go(place.value().array());
    };
    graph_ = Pimpl(new CudaGraph(CudaGraph::capture(device, record, graph_life_)));
  } catch (...) {
    restore();
    throw;
  }
  for (Place& place : places_) place.before = Tensor();
}

DISTRIBUTE_INLINE RecordedStep::~RecordedStep() = default;

DISTRIBUTE_INLINE bool RecordedStep::is_lost() const { return graph_life_->is_dropped(); }

DISTRIBUTE_INLINE RecordedStep::Place* RecordedStep::find(const VariableImpl& variable) {
  const auto found = std::find_if(places_.begin(), places_.end(), [&](const Place& place) {
    return place.variable.get() == &variable;
  });
  return found == places_.end() ? nullptr : &*found;
}

DISTRIBUTE_INLINE void RecordedStep::notice(const std::shared_ptr<VariableImpl>& variable) {
  if (find(*variable)) return;
  const int copies = variable->num_components();
  if ((copies != 1 && copies != replica_.count) || !variable->parts().empty())
    throw FailedPreconditionError(str_cat("variable '", variable->options().name,
                                          "' is in several places: its step cannot be recorded"));
  const int component = copies == 1 ? 0 : replica_.index;
  const Tensor value = variable->component(component);
  Place place{variable, component, value.array().bytes(), autograd_internal::bytes_of(value)};
  place.before = value;
  if (!is_gpu(value.device())) place.on_host.assign(place.data, place.bytes);
  places_.push_back(std::move(place));
}

DISTRIBUTE_INLINE bool RecordedStep::may_write(VariableImpl& variable, const Tensor& value) {
  Place* place = find(variable);
  if (!place || value.array().bytes() != place->data) return value.unique();
  place->before = Tensor();
  if (is_gpu(value.device()))
    device_internal::transposed_filter_cache(device_).let_go(value.array());
  const bool alone = value.unique();
  place->before = value;
  if (place->is_host())
    throw FailedPreconditionError(
        place->name() + " is in host memory and updated in a step that is being recorded");
  if (!alone)
    throw FailedPreconditionError(
        place->name() +
        " is updated while its value is held elsewhere, in a step that is being "
        "recorded");
  return place->is_written = true;
}

/// Copies values that the step left elsewhere to the place where the next launch reads them.
DISTRIBUTE_INLINE void RecordedStep::put_back() {
  std::vector<std::pair<Place*, Tensor>> moved;
  for (Place& place : places_) {
    Tensor now = place.value();
    const bool same = now.array().bytes() == place.data;
    if (place.is_host()) {
      if (!same || std::memcmp(place.data, place.on_host.data(), place.bytes) != 0)
        throw FailedPreconditionError(
            place.name() + " is in host memory and changes in a step that is being recorded");
      continue;
    }
    if (same) continue;
    now = now.row_major();
    const char* from = now.array().bytes();
    const auto overlaps = [&](const Place& other) { return other.contains(from); };
    // two variables exchange their places
    if (std::any_of(places_.begin(), places_.end(), overlaps)) {
      const Tensor copy = Tensor::empty(now.shape(), now.dtype(), device_);
      copy_bytes(copy.array().bytes(), device_, from, now.device(), int64_t(place.bytes));
      now = copy;
    }
    moved.emplace_back(&place, now);
  }
  for (auto& [place, now] : moved) {
    copy_bytes(const_cast<char*>(place->data), device_, now.array().bytes(), now.device(),
               int64_t(place->bytes));
    place->set(place->before);
    place->is_written = true;
  }
}

/// Restores the variables after a failed recording.
DISTRIBUTE_INLINE void RecordedStep::restore() {
  for (Place& place : places_)
    if (place.before) place.set(std::exchange(place.before, Tensor()));
}

DISTRIBUTE_INLINE const void* RecordedStep::add_numbers(size_t bytes,
                                                        std::function<void(void*)> write) {
  const size_t at = next_numbers_.size(), words = (bytes + 7) / 8;
  if (at + words > autograd_internal::kMostNumbers)
    throw FailedPreconditionError("too many numbers change in a step that is being recorded");
  next_numbers_.resize(at + words);
  writers_.push_back([this, at, write = std::move(write)] { write(&next_numbers_[at]); });
  return numbers_.array().bytes() + 8 * at;
}

DISTRIBUTE_INLINE std::string RecordedStep::outdated() const {
  for (const Place& place : places_) {
    const Tensor now = place.value();
    if (!is_gpu(now.device())) {
      if (autograd_internal::bytes_of(now) != place.bytes ||
          std::memcmp(now.array().bytes(), place.on_host.data(), place.bytes) != 0)
        return place.name() + ", which the step reads in host memory, has changed";
    } else if (now.array().bytes() != place.data) {
      return place.name() + " was assigned outside of the recorded step";
    }
  }
  return {};
}

DISTRIBUTE_INLINE bool RecordedStep::writes_what_others_hold() const {
  device_internal::transposed_filter_cache(device_).end_pass();
  for (const Place& place : places_) {
    if (!place.is_written) continue;
    Tensor value = place.value();
    place.set(Tensor());
    const bool alone = value.unique();
    place.set(std::move(value));
    if (!alone) return true;
  }
  return false;
}

/// Passes the numbers as arguments of kernels, which the driver copies. So no host memory must stay
/// until the GPU reads them.
DISTRIBUTE_INLINE void RecordedStep::write_numbers() {
  for (const auto& write : writers_) write();
  kernels::NumbersArguments arguments{};
  constexpr size_t kWords = std::size(decltype(arguments.numbers){});
  for (size_t at = 0; at < next_numbers_.size(); at += kWords) {
    const size_t count = std::min(kWords, next_numbers_.size() - at);
    arguments.to = reinterpret_cast<uint64_t*>(numbers_.array().bytes()) + at;
    arguments.count = int32_t(count);
    std::copy_n(next_numbers_.begin() + int64_t(at), count, arguments.numbers);
    launch_kernel(device_, {autograd_internal::kNumbersText, "store_numbers"}, {.block = 64},
                  arguments);
  }
}

DISTRIBUTE_INLINE void RecordedStep::launch() {
  write_numbers();
  graph_->launch();
  // The value gets a new identity, as a tensor may remember on the host what its elements were.
  for (const Place& place : places_)
    if (place.is_written) place.set(place.value().renamed());
  for (const auto& work : after_) work();
}

}  // namespace distribute
