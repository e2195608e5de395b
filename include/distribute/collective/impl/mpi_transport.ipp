#pragma once
#if DISTRIBUTE_HAS_MPI
#include <distribute/collective/cost_model.hpp>
#include <distribute/collective/detail/message_algorithms.hpp>
#include <distribute/collective/detail/message_header.hpp>
#include <distribute/collective/mpi_transport.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#define OMPI_SKIP_MPICXX 1  // C++ bindings of old, which only cost time
#include <mpi.h>
#undef OMPI_SKIP_MPICXX

namespace distribute::collective {

DISTRIBUTE_INLINE void check_mpi(int result) {
  if (result == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(result, text, &length);
  throw UnavailableError(str_cat("MPI: ", std::string(text, size_t(length))));
}

/// A message is a header, which carries short contents with it, and the rest as a second one, which
/// the receiver asks for after it has checked the header.
class MpiMessages final : public Messages {
 public:
  MpiMessages();
  DISTRIBUTE_INLINE ~MpiMessages() override;

  void begin(const Operation& operation);
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  DISTRIBUTE_INLINE void send(int to, uint64_t tag, std::span<const std::byte> bytes,
                              bool urgent) override;
  DISTRIBUTE_INLINE void receive(int from, uint64_t tag, std::span<std::byte> out) override;
  DISTRIBUTE_INLINE Event next() override;
  DISTRIBUTE_INLINE void finish() override;
  void abort(StatusCode code, const std::string& message);
  void hang_up(StatusCode code, const std::string& message);

 private:
  static constexpr size_t kShort = 8192;
  static constexpr size_t kHead = sizeof(MessageHeader) + kShort;
  static constexpr int kRest = 1 << 26, kFailure = 1 << 27;  // beside the tags of messages
  using Head = std::array<std::byte, kHead>;

  struct Message {
    bool sends;
    int peer;
    uint64_t tag;
    int mpi_tag;
    std::span<std::byte> bytes;
    std::unique_ptr<Head> head = {};
    int parts = 1;  // requests that are not done
    bool has_head = false;
  };
  using MessagePointer = std::shared_ptr<Message>;

  MPI_Comm comm() const { return comms_[collective_runs_ ? 0 : 1]; }
  int mpi_tag(uint64_t tag, std::vector<uint32_t>& counters, int peer) const;
  void add(const MessagePointer& message, MPI_Request request);
  void turn();
  void done(const MessagePointer& message);
  void take_head(const MessagePointer& message);
  void check_signature(const MessageHeader& header, int from) const;
  void check_failures();
  void wait(bool moved);

  MPI_Comm comms_[2];  // for collectives, and from point to point
  int rank_ = 0, size_ = 1;
  std::vector<uint32_t> sent_, received_;  // point-to-point messages, of each peer
  std::vector<MPI_Request> requests_;
  std::vector<MessagePointer> messages_;  // of the requests
  std::deque<Event> events_;
  Operation operation_;
  Signature signature_;
  bool collective_runs_ = true, broken_ = false;
  std::chrono::steady_clock::time_point moved_at_;
  MPI_Request failure_request_ = MPI_REQUEST_NULL;
  Head failure_, last_words_;

  std::atomic<bool> aborted_ = false;
  std::mutex mutex_;  // guards the two below
  StatusCode abort_code_ = StatusCode::Ok;
  std::string abort_message_;
};

/// Ends MPI with the process, unless a group broke: then others may never come to the end.
struct MpiProcess {
  bool ours = false;
  std::atomic<bool> broken = false;
  ~MpiProcess() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (ours && !broken && !finalized) MPI_Finalize();
  }
  static MpiProcess& get() {
    static MpiProcess process;
    return process;
  }
};

DISTRIBUTE_INLINE void start_mpi() {
  MpiProcess& process = MpiProcess::get();
  int initialized = 0, level = 0;
  MPI_Initialized(&initialized);
  if (!initialized) {
    check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level));
    process.ours = true;
  }
  check_mpi(MPI_Query_thread(&level));
  if (level < MPI_THREAD_SERIALIZED)
    throw FailedPreconditionError(
        "MPI was initialized for a single thread; call MPI_Init_thread with MPI_THREAD_SERIALIZED");
}

DISTRIBUTE_INLINE MpiMessages::MpiMessages() {
  start_mpi();
  for (MPI_Comm& comm : comms_) {
    check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    check_mpi(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  }
  check_mpi(MPI_Comm_rank(comms_[0], &rank_));
  check_mpi(MPI_Comm_size(comms_[0], &size_));
  sent_.resize(size_t(size_));
  received_.resize(size_t(size_));
  check_mpi(MPI_Irecv(failure_.data(), int(kHead), MPI_BYTE, MPI_ANY_SOURCE, kFailure, comms_[0],
                      &failure_request_));
}

/// The communicators stay: to free them is a collective, which could wait for a rank that is gone.
DISTRIBUTE_INLINE MpiMessages::~MpiMessages() {
  if (failure_request_ == MPI_REQUEST_NULL) return;
  MPI_Cancel(&failure_request_);
  MPI_Request_free(&failure_request_);
}

DISTRIBUTE_INLINE void MpiMessages::begin(const Operation& operation) {
  operation_ = operation;
  collective_runs_ = operation.kind != Collective::Send && operation.kind != Collective::Receive;
  signature_ = signature_of(operation);
  if (operation.kind == Collective::Receive) {  // as the sender sees it
    signature_.kind = Collective::Send;
    signature_.peer = rank_;
  }
  moved_at_ = std::chrono::steady_clock::now();
  check_failures();
}

DISTRIBUTE_INLINE int MpiMessages::mpi_tag(uint64_t tag, std::vector<uint32_t>& counters,
                                           int peer) const {
  if (collective_runs_) return int(flow_of(tag) << 24 | uint32_t(number_of(tag)));
  return int(counters[size_t(peer)]++ & 0xff'ffff);
}

DISTRIBUTE_INLINE void MpiMessages::add(const MessagePointer& message, MPI_Request request) {
  requests_.push_back(request);
  messages_.push_back(message);
}

DISTRIBUTE_INLINE void MpiMessages::send(int to, uint64_t tag, std::span<const std::byte> bytes,
                                         bool) {
  const auto message =
      std::make_shared<Message>(Message{true,
                                        to,
                                        tag,
                                        mpi_tag(tag, sent_, to),
                                        {const_cast<std::byte*>(bytes.data()), bytes.size()}});
  message->head = std::make_unique<Head>();
  const MessageHeader header{.signature = signature_, .tag = tag, .bytes = bytes.size()};
  const size_t carried = bytes.size() <= kShort ? bytes.size() : 0;
  std::memcpy(message->head->data(), &header, sizeof header);
  copy_bytes(message->head->data() + sizeof header, bytes.data(), int64_t(carried));
  message->parts = carried == bytes.size() ? 1 : 2;
  MPI_Request request;
  check_mpi(MPI_Isend(message->head->data(), int(sizeof header + carried), MPI_BYTE, to,
                      message->mpi_tag, comm(), &request));
  add(message, request);
  if (message->parts == 1) return;
  check_mpi(MPI_Isend(bytes.data(), int(bytes.size()), MPI_BYTE, to, message->mpi_tag | kRest,
                      comm(), &request));
  add(message, request);
}

DISTRIBUTE_INLINE void MpiMessages::receive(int from, uint64_t tag, std::span<std::byte> out) {
  const auto message =
      std::make_shared<Message>(Message{false, from, tag, mpi_tag(tag, received_, from), out});
  message->head = std::make_unique<Head>();
  MPI_Request request;
  check_mpi(MPI_Irecv(message->head->data(), int(kHead), MPI_BYTE, from, message->mpi_tag, comm(),
                      &request));
  add(message, request);
}

DISTRIBUTE_INLINE Messages::Event MpiMessages::next() {
  while (events_.empty()) turn();
  const Event event = events_.front();
  events_.pop_front();
  return event;
}

DISTRIBUTE_INLINE void MpiMessages::finish() {
  while (!requests_.empty()) turn();
  events_.clear();
}

DISTRIBUTE_INLINE void MpiMessages::turn() {
  int count = 0;
  std::vector<int> indices(requests_.size());
  check_mpi(MPI_Testsome(int(requests_.size()), requests_.data(), &count, indices.data(),
                         MPI_STATUSES_IGNORE));
  std::vector<MessagePointer> finished;
  for (int i = 0; i < count; ++i)
    finished.push_back(std::move(messages_[size_t(indices[size_t(i)])]));
  if (count > 0) {
    std::erase(requests_, MPI_REQUEST_NULL);
    std::erase(messages_, nullptr);
  }
  for (const MessagePointer& message : finished) done(message);
  check_failures();
  wait(count > 0);
}

DISTRIBUTE_INLINE void MpiMessages::done(const MessagePointer& message) {
  if (!message->sends && !message->has_head) take_head(message);
  if (--message->parts == 0) events_.push_back({message->peer, message->tag, message->sends});
}

/// Checks the header; takes what it carries or asks for the rest.
DISTRIBUTE_INLINE void MpiMessages::take_head(const MessagePointer& message) {
  MessageHeader header;
  std::memcpy(&header, message->head->data(), sizeof header);
  const std::string who = str_cat("rank ", message->peer);
  check_header(header, who);
  check_signature(header, message->peer);
  if (header.bytes != message->bytes.size())
    throw DataLossError(str_cat(who, " sent ", header.bytes, " bytes of ",
                                to_string(header.signature), " where ", message->bytes.size(),
                                " belong"));
  message->has_head = true;
  if (header.bytes <= kShort)
    return copy_bytes(message->bytes.data(), message->head->data() + sizeof header,
                      int64_t(header.bytes));
  ++message->parts;
  MPI_Request request;
  check_mpi(MPI_Irecv(message->bytes.data(), int(header.bytes), MPI_BYTE, message->peer,
                      message->mpi_tag | kRest, comm(), &request));
  add(message, request);
}

DISTRIBUTE_INLINE void MpiMessages::check_signature(const MessageHeader& header, int from) const {
  check_same(signature_, rank_, header.signature, from);
}

DISTRIBUTE_INLINE void MpiMessages::check_failures() {
  if (aborted_) {
    const std::lock_guard lock(mutex_);
    throw_error(abort_code_, abort_message_);
  }
  int come = 0;
  check_mpi(MPI_Test(&failure_request_, &come, MPI_STATUS_IGNORE));
  if (!come) return;
  MessageHeader header;
  std::memcpy(&header, failure_.data(), sizeof header);
  check_header(header, "a rank");
  throw_error(
      StatusCode(header.code),
      std::string(reinterpret_cast<const char*>(failure_.data()) + sizeof header, header.bytes));
}

/// MPI has to be called for anything to move, so this sleeps for short times only.
DISTRIBUTE_INLINE void MpiMessages::wait(bool moved) {
  const auto now = std::chrono::steady_clock::now();
  if (moved) moved_at_ = now;
  if (operation_.deadline.passed()) {
    std::string late;
    for (int r = 0; r < size_; ++r)
      if (std::any_of(messages_.begin(), messages_.end(),
                      [&](const MessagePointer& one) { return one->peer == r; }))
        late += str_cat(late.empty() ? "rank " : ", rank ", r);
    throw DeadlineExceededError(str_cat(to_string(signature_of(operation_)),
                                        ": the time is over; rank ", rank_, " waits for ", late));
  }
  if (now - moved_at_ > std::chrono::milliseconds(5))
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  else if (!moved)
    std::this_thread::yield();
}

DISTRIBUTE_INLINE void MpiMessages::abort(StatusCode code, const std::string& message) {
  const std::lock_guard lock(mutex_);
  if (aborted_) return;
  abort_code_ = code;
  abort_message_ = message;
  aborted_ = true;
  MpiProcess::get().broken = true;
}

DISTRIBUTE_INLINE void MpiMessages::hang_up(StatusCode code, const std::string& message) {
  if (std::exchange(broken_, true)) return;
  MpiProcess::get().broken = true;
  const size_t length = std::min<size_t>(message.size(), MessageHeader::kMaxFailureBytes);
  const MessageHeader header{.kind = MessageHeader::Kind::Failure,
                             .code = uint16_t(code),
                             .signature = {},
                             .bytes = length};
  std::memcpy(last_words_.data(), &header, sizeof header);
  std::memcpy(last_words_.data() + sizeof header, message.data(), length);
  for (int r = 0; r < size_; ++r) {
    MPI_Request request;
    if (r == rank_) continue;
    if (MPI_Isend(last_words_.data(), int(sizeof header + length), MPI_BYTE, r, kFailure, comms_[0],
                  &request) == MPI_SUCCESS)
      MPI_Request_free(&request);
  }
}

class MpiTransport final : public Transport {
 public:
  const char* name() const override { return "mpi"; }
  int rank() const override { return messages_.rank(); }
  int size() const override { return messages_.size(); }
  void execute(const Operation& operation) override {
    try {
      messages_.begin(operation);
      algorithms_.run(operation);
    } catch (const Error& error) {
      messages_.abort(error.code(), error.what());
      messages_.hang_up(error.code(), error.what());
      throw;
    }
  }
  void abort(StatusCode code, const std::string& message) override {
    messages_.abort(code, message);
  }

 private:
  MpiMessages messages_;
  MessageAlgorithms algorithms_{messages_, {}, 256 << 10};
};

DISTRIBUTE_INLINE bool has_mpi() { return true; }

DISTRIBUTE_INLINE std::unique_ptr<Transport> make_mpi_transport() {
  return std::make_unique<MpiTransport>();
}

}  // namespace distribute::collective
#endif
