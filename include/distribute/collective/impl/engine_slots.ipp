#pragma once
#include <distribute/collective/detail/engine_slots.hpp>

#include <cstring>

namespace distribute::collective {

DISTRIBUTE_INLINE EngineHead EngineBuffer::head() const {
  EngineHead head;
  std::memcpy(&head, bytes.data(), sizeof head);
  return head;
}

DISTRIBUTE_INLINE uint64_t EngineSlots::open(EngineSlot slot) {
  if (free_slots_.empty()) {
    free_slots_.push_back(slots_.size());
    slots_.emplace_back();
  }
  const uint64_t cookie = free_slots_.back();
  free_slots_.pop_back();
  slots_[cookie] = std::move(slot);
  return cookie;
}

DISTRIBUTE_INLINE EngineSlot& EngineSlots::keep(EngineSlot slot) {
  return slots_.emplace_back(std::move(slot));
}

DISTRIBUTE_INLINE void EngineSlots::close(uint64_t cookie) {
  if (EngineBufferPointer head = std::move(slots_[cookie].head)) give_back(std::move(head));
  free_slots_.push_back(cookie);
}

DISTRIBUTE_INLINE EngineBufferPointer EngineSlots::new_buffer() {
  if (free_buffers_.empty()) return std::make_unique<EngineBuffer>();
  EngineBufferPointer buffer = std::move(free_buffers_.back());
  free_buffers_.pop_back();
  return buffer;
}

}  // namespace distribute::collective
