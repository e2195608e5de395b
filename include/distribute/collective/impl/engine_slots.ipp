#pragma once
#include <distribute/base/error.hpp>
#include <distribute/collective/detail/engine_slots.hpp>

#include <cstring>

namespace distribute::collective {

DISTRIBUTE_INLINE void EngineBuffer::write(const EngineHead& head) {
  const std::string encoded = net::encode_message(head);
  std::memcpy(bytes.data(), encoded.data(), kEngineHeadBytes);
}

DISTRIBUTE_INLINE EngineHead EngineBuffer::head(const std::string& peer) const {
  const std::string_view encoded(reinterpret_cast<const char*>(bytes.data()), kEngineHeadBytes);
  const auto head = net::parse_message<EngineHead>(encoded, "head of an engine's message");
  if (!head.ok()) throw DataLossError(str_cat(peer, " sent ", head.status().message()));
  return *head;
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
