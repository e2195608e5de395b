#pragma once
/// Messages between a client and a server on their data connection: requests with bytes, answered
/// in order.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/net/message.hpp>
#include <distribute/parameter_server/detail/push.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::parameter_server {

inline constexpr const char* kLinkPurpose = "parameters";
/// Bytes of one system call: larger calls are slower, as the data leave the cache.
inline constexpr size_t kCallBytes = size_t{256} << 10;
/// Largest head; the size of the bytes behind it is bounded by their variables.
inline constexpr uint64_t kMostHeadBytes = uint64_t{64} << 20;

/// Requests. Each is a frame of this type with a LinkHead, whose `request` is the struct named
/// here.
enum class LinkRequest : uint16_t {
  Share = 96,  // ShareRequest -> ShareAnswer, then descriptors through a Unix socket
  Pull,        // PullRequest -> list of PulledValue + values
  Assign,      // VariableRequest + values
  AssignAdd,   // AddRequest + values -> new values
  Fill,        // FillRequest
  ReadRows,    // RowsRequest -> values
  WriteRows,   // RowsRequest + values
  Gather,      // RowsRequest + row numbers -> values
  Optimizer,   // OptimizerMessage: what later pushes of this connection name
  Push,        // PushMessage + gradients -> StepAnswer when applied at once; otherwise staged
  Commit,      // StagedRequest -> StepAnswer
  Drop,        // StagedRequest
  Rounds,      // list of SyncRound, for synchronous training
  Flush,       // no struct: answered when all requests before it are done
};
/// Returns "push"; "unknown" for other numbers.
const char* name_of(LinkRequest request);
inline constexpr uint16_t kLinkAnswer = 128;  // a frame of this type with a LinkAnswerHead

/// Position of a message's bytes.
enum class Where : uint8_t {
  Unchanged,  // the client has them already
  Inline,     // they follow the head
  Halved,     // they follow the head as bfloat16
  Arena,      // in the sender's shared memory
};

/// A block of the server's shared memory that the client has finished reading.
struct ReleasedBlock {
  int64_t variable = 0, offset = 0;
  void fields(net::FieldVisitor& visit) { visit("variable", variable)("offset", offset); }
};

struct LinkHead {  // of a request
  // bytes that follow the head, beside the encoded members: values and gradients
  uint64_t bytes = 0;
  std::vector<ReleasedBlock> released = {};
  std::string_view request = {};

  void fields(net::FieldVisitor& visit) {
    visit("bytes", bytes)("released", released).rest("request", request);
  }
};

struct LinkAnswerHead {
  uint64_t bytes = 0;  // bytes that follow the head
  StatusCode code = StatusCode::Ok;
  std::string_view error = {};
  std::string_view answer = {};  // encoded answer to the request

  void fields(net::FieldVisitor& visit) {
    visit("bytes", bytes)("code", code, StatusCode::Unauthenticated).view("error", error);
    visit.rest("answer", answer);
  }
};

struct ShareRequest {
  std::string host = {};
  void fields(net::FieldVisitor& visit) { visit("host", host); }
};

struct ShareAnswer {
  std::string socket = {};  // empty: no memory is shared
  void fields(net::FieldVisitor& visit) { visit("socket", socket); }
};

struct KnownVersion {  // version that the client has; 0: none
  int64_t variable = 0;
  uint64_t version = 0;
  void fields(net::FieldVisitor& visit) { visit("variable", variable)("version", version); }
};

struct PullRequest {
  bool halve = false;  // float32 may be sent as bfloat16
  std::vector<KnownVersion> variables = {};
  void fields(net::FieldVisitor& visit) { visit("halve", halve)("variables", variables); }
};

struct PulledValue {  // in the order of the request
  Where where = Where::Unchanged;
  uint64_t version = 0;
  int64_t offset = 0;  // in shared memory
  void fields(net::FieldVisitor& visit) {
    visit("where", where, Where::Arena)("version", version)("offset", offset);
  }
};

struct VariableRequest {
  int64_t variable = 0;
  void fields(net::FieldVisitor& visit) { visit("variable", variable); }
};

struct AddRequest {
  int64_t variable = 0;
  UpdateOrigin origin = {};
  void fields(net::FieldVisitor& visit) { visit("variable", variable)("origin", origin); }
};

struct FillRequest {
  int64_t variable = 0;
  double number = 0;
  void fields(net::FieldVisitor& visit) { visit("variable", variable)("number", number); }
};

struct RowsRequest {
  int64_t variable = 0;
  int64_t begin = 0, rows = 0;
  void fields(net::FieldVisitor& visit) {
    visit("variable", variable)("begin", begin)("rows", rows);
  }
};

struct StagedRequest {
  int64_t number = 0;  // number of a staged push
  void fields(net::FieldVisitor& visit) { visit("number", number); }
};

struct StepAnswer {
  int64_t step = 0;  // -1: the push was too old
  void fields(net::FieldVisitor& visit) { visit("step", step); }
};

/// Converts float32 to bfloat16; widen() converts back.
void narrow(const float* from, uint16_t* to, int64_t count);
void widen(const uint16_t* from, float* to, int64_t count);

}  // namespace distribute::parameter_server
