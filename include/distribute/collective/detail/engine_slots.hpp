#pragma once
/// Memory of the messages that an engine is sending or receiving.

#include <distribute/base/config.hpp>
#include <distribute/collective/detail/message_header.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace distribute::collective {

/// First bytes of every message.
struct EngineHead {
  MessageHeader header;
  std::array<char, 16> proof{};

  void fields(net::FieldVisitor& visit) { visit("header", header)("proof", proof); }
};
inline constexpr size_t kEngineHeadBytes = kMessageHeaderBytes + 16;

/// A head and, behind it, contents that are short.
struct EngineBuffer {
  static constexpr size_t kSize = 8192, kShort = kSize - kEngineHeadBytes;
  std::array<std::byte, kSize> bytes;

  void write(const EngineHead& head);
  /// Reads the head.
  /// Throws  DataLossError that names `peer` for bytes that are no head.
  EngineHead head(const std::string& peer) const;
  const std::byte* contents() const { return bytes.data() + kEngineHeadBytes; }
  std::byte* contents() { return bytes.data() + kEngineHeadBytes; }
};
using EngineBufferPointer = std::unique_ptr<EngineBuffer>;

/// A message in progress.
struct EngineSlot {
  int peer = 0;
  uint64_t tag = 0;
  bool sends = false;
  int parts = 0;    // unfinished parts; 0: the slot is free
  int failure = 0;  // the engine's code, for contents whose head has not come
  EngineBufferPointer head = {};
};

/// Slots by the cookies of their messages, and buffers; both are reused. One thread.
class EngineSlots {
 public:
  uint64_t open(EngineSlot slot);
  /// Returns a slot that is never closed, as the engine may need it to the end.
  EngineSlot& keep(EngineSlot slot);
  /// Frees the slot and its head.
  void close(uint64_t cookie);
  EngineSlot& operator[](uint64_t cookie) { return slots_[cookie]; }

  EngineBufferPointer new_buffer();
  void give_back(EngineBufferPointer buffer) { free_buffers_.push_back(std::move(buffer)); }

 private:
  std::vector<EngineSlot> slots_;
  std::vector<uint64_t> free_slots_;
  std::vector<EngineBufferPointer> free_buffers_;
};

}  // namespace distribute::collective
