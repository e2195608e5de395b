#pragma once
#include <distribute/net/bytes.hpp>
#include <distribute/net/detail/frame.hpp>
#include <distribute/rpc/detail/rpc_message.hpp>

namespace distribute::rpc {

DISTRIBUTE_INLINE std::string CallMessage::encode() const {
  net::ByteWriter writer;
  writer.number(id).number(nanoseconds).text(method);
  std::string payload = writer.take();
  payload += body;
  return net::encode_frame(uint16_t(RpcFrame::Call), payload);
}

DISTRIBUTE_INLINE std::string AnswerMessage::encode() const {
  net::ByteWriter writer;
  writer.number(id).number(int32_t(code)).text(error.substr(0, kRpcHeadBytes / 2));
  std::string payload = writer.take();
  payload += body;
  return net::encode_frame(uint16_t(RpcFrame::Answer), payload);
}

DISTRIBUTE_INLINE CallMessage parse_call(std::string_view payload) {
  net::ByteReader reader(payload);
  CallMessage message;
  message.id = reader.number<uint64_t>();
  message.nanoseconds = reader.number<int64_t>();
  message.method = reader.text(1024);
  if (!reader.ok()) throw InvalidArgumentError("a damaged call");
  message.body = payload.substr(20 + message.method.size());
  return message;
}

DISTRIBUTE_INLINE AnswerMessage parse_answer(std::string_view payload) {
  net::ByteReader reader(payload);
  AnswerMessage message;
  message.id = reader.number<uint64_t>();
  message.code = StatusCode(reader.number<int32_t>());
  message.error = reader.text(size_t(kRpcHeadBytes));
  if (!reader.ok()) throw InvalidArgumentError("a damaged answer");
  message.body = payload.substr(16 + message.error.size());
  return message;
}

}  // namespace distribute::rpc
