#pragma once
/// Every message between tasks, for the fuzzer, the tests and docs/protocol.md.
/// tools/check_pages.py demands that each struct with `fields` is named here.

#include <distribute/cluster/detail/control_message.hpp>
#include <distribute/cluster/detail/elastic_message.hpp>
#include <distribute/cluster/detail/progress_board.hpp>
#include <distribute/collective/detail/engine_slots.hpp>
#include <distribute/collective/detail/nccl_tasks.hpp>
#include <distribute/collective/detail/worker_engine.hpp>
#include <distribute/coordinator/detail/outcome.hpp>
#include <distribute/coordinator/detail/worker_service.hpp>
#include <distribute/coordinator/wire_value.hpp>
#include <distribute/horovod/detail/request.hpp>
#include <distribute/net/handshake.hpp>
#include <distribute/parameter_server/detail/server_calls.hpp>
#include <distribute/parameter_server/detail/staged_push.hpp>
#include <distribute/parameter_server/link_message.hpp>
#include <distribute/rpc/detail/rpc_message.hpp>
#include <distribute/rpc/detail/tensor_parts.hpp>

#include <tests/support/message_page.hpp>
#include <tests/support/message_values.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

/// One type of message.
struct MessageKind {
  std::string name;
  std::string purpose;
  /// Its rows in the page.
  std::function<std::string()> rows;
  /// Bytes of one with any values; none when they did not fit together by chance.
  std::function<std::optional<std::string>(uint64_t seed)> generate;
  /// Parses any bytes. What was parsed is encoded as the same bytes; otherwise the process ends.
  /// Returns  whether they were parsed.
  std::function<bool(std::string_view bytes)> parse;
};

/// A place where messages are exchanged.
struct MessageGroup {
  std::string title;
  std::vector<MessageKind> messages;
};

template <distribute::net::Field T>
MessageKind message(const char* name, const char* purpose) {
  namespace net = distribute::net;
  MessageKind kind{.name = name, .purpose = purpose, .rows = {}, .generate = {}, .parse = {}};
  kind.rows = [] {
    distribute::testing::FieldPrinter printer;
    T value{};
    net::FieldsRef(value).visit(printer);
    return printer.rows();
  };
  kind.generate = [](uint64_t seed) -> std::optional<std::string> {
    distribute::testing::ValueGenerator generator(seed);
    T value{};
    net::FieldsRef(value).visit(generator);
    if (!generator.ok()) return std::nullopt;
    return net::encode_message(value);
  };
  kind.parse = [name](std::string_view bytes) {
    const auto value = net::parse_message<T>(bytes, name);
    if (value.ok() && net::encode_message(*value) != bytes) __builtin_trap();
    return value.ok();
  };
  return kind;
}

inline std::vector<MessageKind> handshake_messages() {
  using namespace distribute::net;
  return {message<FrameHeader>("FrameHeader", "stands before every message on a connection"),
          message<HandshakeHello>("HandshakeHello", "client: its TaskIdentity, what it wants"),
          message<HandshakeChallenge>("HandshakeChallenge", "server: random bytes"),
          message<HandshakeProof>("HandshakeProof", "client: HMAC over Hello and Challenge"),
          message<HandshakeWelcome>("HandshakeWelcome", "server: its own proof"),
          message<HandshakeRefusal>("HandshakeRefusal", "server: instead of any of its messages")};
}

inline std::vector<MessageKind> cluster_messages() {
  using namespace distribute::cluster_internal;
  using Changes = std::vector<ProgressChange>;
  return {
      message<ControlMessage>("ControlMessage", "all types; the frame's type says which it is"),
      message<JoinedMembers>("list of JoinedMember", "value of a Start"),
      message<GatheredTexts>("list of texts", "value of the Reply to a Gather"),
      message<Changes>("list of ProgressChange", "value of an Echo: what is new on the board"),
      message<MeetRequest>("MeetRequest", "worker: wants to take part; has its ElasticState"),
      message<MeetResult>("MeetResult", "the worker that gathers: who takes part"),
  };
}

inline std::vector<MessageKind> rpc_messages() {
  using namespace distribute::rpc;
  return {message<CallMessage>("CallMessage", "one call"),
          message<AnswerMessage>("AnswerMessage", "its answer"),
          message<TensorParts>("TensorParts", "a tensor inside of another message")};
}

inline std::vector<MessageKind> coordinator_messages() {
  using namespace distribute::coordinator_internal;
  using distribute::PerReplica;
  using distribute::Tensor;
  using Values = std::vector<PerReplica<Tensor>>;
  return {message<Greeting>("Greeting", "coordinator/hello"),
          message<ClosureCall>("ClosureCall",
                               "coordinator/run, coordinator/make, coordinator/release; "
                               "an ArgumentBytes holds a value, or a Recipe"),
          message<Recipe>("Recipe", "how a dataset or iterator is made: argument of make"),
          message<Outcome>("Outcome", "the answer to these three"),
          message<uint64_t>("number of a call", "coordinator/cancel: up to which"),
          message<distribute::data::Batch>("Batch", "a value"),
          message<Values>("list of PerReplica", "a value")};
}

inline std::vector<MessageKind> server_calls() {
  using namespace distribute::parameter_server;
  return {message<PlaceCall>("PlaceCall", "ps/place"),
          message<WaitCall>("WaitCall", "ps/find, ps/get"),
          message<VariableCall>("VariableCall", "ps/create, ps/attach"),
          message<CreatedAnswer>("CreatedAnswer", "answer to ps/create"),
          message<int32_t>("handle", "ps/created; answer to ps/attach"),
          message<SetCall>("SetCall", "ps/set"),
          message<SyncCall>("SyncCall", "ps/sync"),
          message<SyncRounds::Token>("SyncRounds::Token", "answer to ps/sync")};
}

inline std::vector<MessageKind> link_messages() {
  using namespace distribute::parameter_server;
  return {message<LinkHead>("LinkHead", "before each request; has a list of ReleasedBlock"),
          message<LinkAnswerHead>("LinkAnswerHead", "before each answer"),
          message<ShareRequest>("ShareRequest", "asks for shared memory"),
          message<ShareAnswer>("ShareAnswer", "where its descriptor is given out"),
          message<PullRequest>("PullRequest", "has a list of KnownVersion"),
          message<std::vector<PulledValue>>("list of PulledValue", "answer to a pull"),
          message<VariableRequest>("VariableRequest", "assign"),
          message<AddRequest>("AddRequest", "assign_add; has an UpdateOrigin"),
          message<FillRequest>("FillRequest", "fill"),
          message<RowsRequest>("RowsRequest", "read_rows, write_rows, gather"),
          message<PushRequest>("PushRequest", "push; has a list of UpdateHead"),
          message<StagedRequest>("StagedRequest", "commit, drop"),
          message<StepAnswer>("StepAnswer", "answer to a push that is applied"),
          message<std::vector<SyncRound>>("list of SyncRound", "rounds; has lists of PushId")};
}

inline std::vector<MessageKind> horovod_messages() {
  using namespace distribute::horovod_internal;
  return {message<std::vector<Request>>("list of Request", "rank: has Terms and an Arrangement"),
          message<std::vector<Response>>("list of Response", "coordinator: has a list of Entry")};
}

inline std::vector<MessageKind> collective_messages() {
  using namespace distribute::collective;
  return {message<MessageHeader>("MessageHeader",
                                 "before the contents between two ranks; has a Signature"),
          message<EngineHead>("EngineHead", "the same with engines such as MPI and UCX"),
          message<EngineVerdict>("EngineVerdict", "gathered: whether a task has the engine"),
          message<std::vector<EngineAddress>>("list of EngineAddress", "gathered: of its replicas"),
          message<GpuReport>("GpuReport", "gathered: before GPUs meet over NCCL")};
}

/// In the order of the page.
inline const std::vector<MessageGroup>& all_messages() {
  static const std::vector<MessageGroup> groups = {
      {"Every connection", handshake_messages()},
      {"Membership and meetings", cluster_messages()},
      {"Calls", rpc_messages()},
      {"The coordinator and its workers", coordinator_messages()},
      {"Calls of a parameter server", server_calls()},
      {"Data connections of a parameter server", link_messages()},
      {"Horovod", horovod_messages()},
      {"Collectives", collective_messages()}};
  return groups;
}

/// Any bytes as a message of the type that the first byte selects.
inline void any_message(std::string_view bytes) {
  if (bytes.empty()) return;
  size_t left = uint8_t(bytes[0]);
  size_t count = 0;
  for (const MessageGroup& group : all_messages()) count += group.messages.size();
  left %= count;
  for (const MessageGroup& group : all_messages()) {
    if (left < group.messages.size()) {
      group.messages[left].parse(bytes.substr(1));
      return;
    }
    left -= group.messages.size();
  }
}

}  // namespace fuzz
