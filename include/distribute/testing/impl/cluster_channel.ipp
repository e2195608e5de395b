#pragma once
#include <distribute/testing/detail/cluster_channel.hpp>

#include <cstring>

namespace distribute::testing_internal {

DISTRIBUTE_INLINE std::string encode_message(ChannelKind kind, std::string_view text) {
  const uint32_t size = uint32_t(text.size());
  std::string bytes(1 + sizeof(size), char(kind));
  std::memcpy(bytes.data() + 1, &size, sizeof(size));
  bytes += text;
  return bytes;
}

DISTRIBUTE_INLINE std::optional<ChannelMessage> take_message(std::string& bytes) {
  uint32_t size = 0;
  constexpr size_t kHeader = 1 + sizeof(size);
  if (bytes.size() < kHeader) return std::nullopt;
  std::memcpy(&size, bytes.data() + 1, sizeof(size));
  if (bytes.size() - kHeader < size) return std::nullopt;
  ChannelMessage message{ChannelKind(bytes[0]), bytes.substr(kHeader, size)};
  bytes.erase(0, kHeader + size);
  return message;
}

}  // namespace distribute::testing_internal
