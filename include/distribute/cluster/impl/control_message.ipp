#pragma once
#include <distribute/cluster/detail/control_message.hpp>
#include <distribute/net/bytes.hpp>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE std::string ControlMessage::encode() const {
  net::ByteWriter writer;
  writer.number(request).number(rank).number(code);
  for (const int64_t time : times) writer.number(time);
  writer.text(name).text(value);
  return net::encode_frame(uint16_t(type), writer.bytes());
}

DISTRIBUTE_INLINE absl::StatusOr<ControlMessage> parse_control_message(const net::Frame& frame) {
  net::ByteReader reader(frame.payload);
  ControlMessage message{.type = ControlType(frame.type)};
  message.request = reader.number<uint64_t>();
  message.rank = reader.number<int32_t>();
  message.code = reader.number<int32_t>();
  for (int64_t& time : message.times) time = reader.number<int64_t>();
  message.name = reader.text();
  message.value = reader.text();
  const bool known = message.type >= ControlType::Join && message.type <= ControlType::Released;
  if (!known || !reader.finished())
    return absl::InvalidArgumentError("a damaged message on a control connection");
  return message;
}

DISTRIBUTE_INLINE std::string encode_texts(const std::vector<std::string>& texts) {
  net::ByteWriter writer;
  for (const std::string& text : texts) writer.text(text);
  return writer.take();
}

DISTRIBUTE_INLINE absl::StatusOr<std::vector<std::string>> parse_texts(std::string_view bytes) {
  net::ByteReader reader(bytes);
  std::vector<std::string> texts;
  while (reader.ok() && !reader.finished()) texts.emplace_back(reader.text());
  if (!reader.ok()) return absl::InvalidArgumentError("a damaged list of texts");
  return texts;
}

DISTRIBUTE_INLINE std::string encode_members(const std::vector<JoinedMember>& members) {
  net::ByteWriter writer;
  for (const JoinedMember& member : members)
    writer.text(member.address).number(member.incarnation).text(member.host);
  return writer.take();
}

DISTRIBUTE_INLINE absl::StatusOr<std::vector<JoinedMember>> parse_members(std::string_view bytes) {
  net::ByteReader reader(bytes);
  std::vector<JoinedMember> members;
  while (reader.ok() && !reader.finished()) {
    JoinedMember& member = members.emplace_back();
    member.address = reader.text();
    member.incarnation = reader.number<uint64_t>();
    member.host = reader.text();
  }
  if (!reader.ok()) return absl::InvalidArgumentError("a damaged list of tasks");
  return members;
}

}  // namespace distribute::cluster_internal
