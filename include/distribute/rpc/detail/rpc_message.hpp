#pragma once
/// Messages between a caller and a server: one frame for a call, one for an answer. Parsed texts
/// point into the frame.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/net/message.hpp>

#include <cstdint>
#include <string_view>

namespace distribute::rpc {

inline constexpr const char* kRpcPurpose = "rpc";  // of a connection for calls
inline constexpr const char* kHeartbeatPurpose = "heartbeat";
/// Largest size of a message beside the caller's bytes.
inline constexpr int64_t kRpcHeadBytes = 64 << 10;

enum class RpcFrame : uint16_t { Call = 64, Answer = 65 };

struct CallMessage {
  uint64_t id = 0;          // of the connection's calls
  int64_t nanoseconds = 0;  // time that the caller waits
  std::string_view method = {};
  std::string_view body = {};

  void fields(net::FieldVisitor& visit) {
    visit("id", id)("nanoseconds", nanoseconds).view("method", method, 1024).rest("body", body);
  }
};

struct AnswerMessage {
  uint64_t id = 0;
  StatusCode code = StatusCode::Ok;
  std::string_view error = {};
  std::string_view body = {};

  void fields(net::FieldVisitor& visit) {
    visit("id", id)("code", code, StatusCode::Unauthenticated);
    visit.view("error", error, kRpcHeadBytes / 2).rest("body", body);
  }
};

}  // namespace distribute::rpc
