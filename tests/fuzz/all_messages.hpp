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
#include <distribute/coordinator/remote_value.hpp>
#include <distribute/data_service/detail/dispatcher_state.hpp>
#include <distribute/horovod/detail/request.hpp>
#include <distribute/net/detail/handshake.hpp>
#include <distribute/parameter_server/detail/link_message.hpp>
#include <distribute/parameter_server/detail/push_message.hpp>
#include <distribute/parameter_server/detail/server_calls.hpp>
#include <distribute/parameter_server/detail/staged_push.hpp>
#include <distribute/rpc/detail/rpc_message.hpp>
#include <distribute/rpc/detail/tensor_parts.hpp>
#include <distribute/saving/detail/hdf5_scan.hpp>
#include <distribute/strategy/detail/all_workers.hpp>
#include <distribute/strategy/detail/gradient_buckets.hpp>

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
  return {message<FrameHeader>("FrameHeader", "It stands before every message on a connection."),
          message<HandshakeHello>("HandshakeHello",
                                  "The client says who it is (TaskIdentity) and what it wants."),
          message<HandshakeChallenge>("HandshakeChallenge", "The server sends random bytes."),
          message<HandshakeProof>("HandshakeProof",
                                  "The client sends an HMAC over Hello and Challenge."),
          message<HandshakeWelcome>("HandshakeWelcome", "The server proves the same."),
          message<HandshakeRefusal>("HandshakeRefusal",
                                    "The server sends it instead of any of its messages.")};
}

inline std::vector<MessageKind> cluster_messages() {
  using namespace distribute::cluster_internal;
  using Changes = std::vector<ProgressChange>;
  using Groups = std::vector<distribute::ProgressGroup>;
  return {message<ControlMessage>("ControlMessage",
                                  "A task and its leader exchange it; the frame's type says which "
                                  "of the ControlTypes it is."),
          message<JoinedMembers>("list of JoinedMember", "A Start has it as its value."),
          message<GatheredTexts>("list of texts", "The Reply to a Gather has it as its value."),
          message<Changes>("list of ProgressChange",
                           "An Echo has it as its value: what is new on the progress board."),
          message<Groups>("list of ProgressGroup",
                          "In a job of more than 32 tasks, an Echo that was asked for it and a "
                          "Failed have it as their value."),
          message<MeetRequest>("MeetRequest",
                               "A worker wants to take part in the next generation and says which "
                               "ElasticState it has; `detail` of its HandshakeHello."),
          message<MeetResult>("MeetResult", "The worker that gathers says who takes part.")};
}

inline std::vector<MessageKind> rpc_messages() {
  using namespace distribute::rpc;
  return {message<CallMessage>("CallMessage", "A task calls a method of another one."),
          message<AnswerMessage>("AnswerMessage", "The other task answers."),
          message<TensorParts>("TensorParts", "A tensor travels so inside of another message.")};
}

inline std::vector<MessageKind> coordinator_messages() {
  using namespace distribute::coordinator_internal;
  using distribute::PerReplica;
  using distribute::Tensor;
  using Values = std::vector<PerReplica<Tensor>>;
  return {message<Greeting>("Greeting", "The coordinator calls `coordinator/hello` with it."),
          message<ClosureCall>("ClosureCall",
                               "The coordinator calls `coordinator/run`, `coordinator/make` and "
                               "`coordinator/release` with it. An ArgumentBytes holds a value."),
          message<Recipe>("Recipe",
                          "The first argument of `coordinator/make`: how the dataset or iterator "
                          "is made."),
          message<Outcome>("Outcome", "The worker answers these three calls with it."),
          message<uint64_t>("number of a call",
                            "The coordinator calls `coordinator/cancel` with it: all calls up to "
                            "this one are cancelled."),
          message<distribute::data::Batch>("Batch", "A value of a function can be one."),
          message<Values>("list of PerReplica", "A value of a function can be one.")};
}

inline std::vector<MessageKind> server_calls() {
  using namespace distribute::parameter_server;
  return {message<PlaceCall>("PlaceCall", "`ps/place` takes it and gives a server's number."),
          message<WaitCall>("WaitCall",
                            "`ps/find` takes it and gives a server's number; `ps/get` takes it and "
                            "gives a text."),
          message<VariableCall>("VariableCall", "`ps/create` and `ps/attach` take it."),
          message<CreatedAnswer>("CreatedAnswer", "`ps/create` gives it."),
          message<int32_t>("handle", "`ps/attach` gives it, `ps/created` takes it."),
          message<SetCall>("SetCall", "`ps/set` takes it."),
          message<SyncCall>("SyncCall", "`ps/sync` takes it."),
          message<SyncRounds::Token>("SyncRounds::Token", "`ps/sync` gives it.")};
}

inline std::vector<MessageKind> link_messages() {
  using namespace distribute::parameter_server;
  return {
      message<LinkHead>("LinkHead",
                        "It stands before each request and has a list of ReleasedBlock."),
      message<LinkAnswerHead>("LinkAnswerHead", "It stands before each answer."),
      message<ShareRequest>("ShareRequest", "The client asks for shared memory."),
      message<ShareAnswer>("ShareAnswer", "The server says where its descriptor is given out."),
      message<PullRequest>("PullRequest",
                           "The client asks for values; a KnownVersion says which it has."),
      message<std::vector<PulledValue>>("list of PulledValue",
                                        "The server says where each value is that was pulled."),
      message<VariableRequest>("VariableRequest", "It is the request to assign a variable."),
      message<AddRequest>("AddRequest", "It is the request of assign_add, with an UpdateOrigin."),
      message<FillRequest>("FillRequest", "It is the request to fill a variable."),
      message<RowsRequest>("RowsRequest",
                           "It is the request to read, write or gather rows of a variable."),
      message<OptimizerMessage>("OptimizerMessage",
                                "It is the request to know an optimizer, which pushes name."),
      message<PushMessage>("PushMessage",
                           "It is the request to apply gradients; an UpdateMessage says where each "
                           "of them is."),
      message<StagedRequest>("StagedRequest", "It is the request to commit or drop a push."),
      message<StepAnswer>("StepAnswer", "The server answers a push that was applied."),
      message<std::vector<SyncRound>>("list of SyncRound",
                                      "It tells a server which pushes (PushId) make a step.")};
}

inline std::vector<MessageKind> horovod_messages() {
  using namespace distribute::horovod_internal;
  return {message<std::vector<Request>>("list of Request",
                                        "A rank is ready for operations, each with its Terms and "
                                        "an Arrangement."),
          message<std::vector<Response>>("list of Response",
                                         "The coordinator says what to do next; an Entry is a "
                                         "tensor of the operation.")};
}

inline std::vector<MessageKind> data_service_messages() {
  using namespace distribute::data::service_internal;
  return {
      message<JoinRequest>("JoinRequest",
                           "A worker comes, with DatasetFacts of each dataset that its program has "
                           "registered, and a SpecPart of each component."),
      message<JoinAnswer>("JoinAnswer", "The dispatcher numbers the worker."),
      message<OrdersRequest>("OrdersRequest", "A worker asks what it has to make."),
      message<OrdersAnswer>("OrdersAnswer", "The dispatcher gives a TaskOrder for each task."),
      message<SplitRequest>("SplitRequest", "A worker needs more of the source."),
      message<SplitAnswer>("SplitAnswer", "The dispatcher gives it files or elements."),
      message<DescribeRequest>("DescribeRequest", "A reader asks for a dataset's facts."),
      message<DatasetFacts>("DatasetFacts", "The dispatcher gives them."),
      message<OpenRequest>("OpenRequest", "A reader begins a pass."),
      message<OpenAnswer>("OpenAnswer", "The dispatcher numbers the pass."),
      message<FollowRequest>("FollowRequest",
                             "A reader asks where tasks are, with a TaskReport, and Intervals in "
                             "it, of those whose worker is lost."),
      message<FollowAnswer>("FollowAnswer", "The dispatcher gives a TaskPlace of each."),
      message<LeaveRequest>("LeaveRequest", "A reader ends a pass."),
      message<SaveRequest>("SaveRequest", "A program wants a dataset to be saved to a SaveTarget."),
      message<SaveAnswer>("SaveAnswer", "The dispatcher numbers the save."),
      message<ChunkReport>("ChunkReport",
                           "A worker has written a chunk, is at the end of its part, or has "
                           "failed."),
      message<ChunkAnswer>("ChunkAnswer", "The dispatcher has made the chunk visible."),
      message<ElementsRequest>("ElementsRequest", "A reader asks a worker for elements."),
      message<ElementsAnswer>("ElementsAnswer", "The worker gives each as NumberedElement."),
      message<JournalEntry>("JournalEntry",
                            "The dispatcher keeps a change in its journal, for its next start.")};
}

inline std::vector<MessageKind> collective_messages() {
  using namespace distribute::collective;
  return {message<MessageHeader>("MessageHeader",
                                 "It stands before the contents between two ranks, with the "
                                 "Signature of the operation."),
          message<EngineHead>("EngineHead", "The same with an engine such as MPI or UCX."),
          message<EngineVerdict>("EngineVerdict", "A task says whether it has the engine."),
          message<std::vector<EngineAddress>>("list of EngineAddress",
                                              "A task says where the engine finds its replicas."),
          message<GpuReport>("GpuReport", "A task says which GPUs it has for NCCL.")};
}

inline std::vector<MessageKind> strategy_messages() {
  using namespace distribute::strategy_internal;
  return {message<GradientOrder>("list of numbers",
                                 "Rank 0 says in which order its backward pass gives gradients."),
          message<WorkerOutcome>("WorkerOutcome",
                                 "A worker says what its part of common work has given.")};
}

inline std::vector<MessageKind> file_messages() {
  return {message<distribute::saving_internal::Hdf5Index>(
      "Hdf5Index", "A copy of the process, which may crash, has read an HDF5 file.")};
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
      {"The data service", data_service_messages()},
      {"Collectives", collective_messages()},
      {"Workers in step", strategy_messages()},
      {"A process and its copy", file_messages()}};
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
