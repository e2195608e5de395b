#pragma once
#include <distribute/parameter_server/detail/gradient_memory.hpp>

namespace distribute::parameter_server {

DISTRIBUTE_INLINE std::shared_ptr<GradientPlace> GradientMemory::take(int64_t bytes) {
  const int64_t offset = arena_ ? arena_->allocate(bytes) : -1;
  if (offset < 0) return nullptr;
  auto place = std::make_shared<GradientPlace>();
  place->arena = arena_;
  place->offset = offset;
  place->bytes = bytes;
  return place;
}

DISTRIBUTE_INLINE std::optional<BufferOffer> GradientMemory::offer(int64_t bytes) {
  auto place = take(bytes);
  if (!place) return std::nullopt;
  const std::lock_guard lock(mutex_);
  offered_[place->offset] = place;
  void* data = arena_->at(place->offset);
  return BufferOffer{bytes, data, [place = std::move(place)]() mutable { place.reset(); }};
}

DISTRIBUTE_INLINE std::shared_ptr<GradientPlace> GradientMemory::place_of(const Tensor& tensor) {
  if (!arena_ || tensor.layout()) return nullptr;
  const int64_t offset = arena_->offset_of(tensor.array().bytes());
  if (offset < 0) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto found = offered_.find(offset);
  return found == offered_.end() ? nullptr : found->second.lock();
}

}  // namespace distribute::parameter_server
