#pragma once
/// Messages over an engine module.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/collective/detail/abort_state.hpp>
#include <distribute/collective/detail/engine_group.hpp>
#include <distribute/collective/detail/engine_slots.hpp>
#include <distribute/collective/detail/engine_wait.hpp>
#include <distribute/collective/detail/group_messages.hpp>
#include <distribute/collective/detail/running_operation.hpp>
#include <distribute/net/deadline.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace distribute::collective {

/// Secrets of the two ranks of each pair, in each direction; empty: messages are not authenticated.
struct EngineProofs {
  std::vector<std::string> out, in;  // 16 bytes for each rank
};

/// Sends a message as a head, which contains short contents; long ones are a second message. Used
/// by one thread, except abort().
/// 1. The tag of the contents in the engine follows from the message's tag, so that the receiver
///    can post the receive, with its final memory, before either has come; engines buffer and copy
///    messages without a posted receive.
/// 2. A head is received in one of two channels for each rank, for collectives and for
///    point-to-point messages, and stays there until its operation begins.
/// 3. A message has come only when its head is checked, too.
class EngineMessages final : public GroupMessages {
 public:
  /// `names` are those of the ranks, for messages. `spin_seconds` is the time of polling before
  /// sleeping.
  EngineMessages(std::unique_ptr<EngineGroup> group, int rank, std::vector<std::string> names,
                 EngineProofs proofs = {}, double spin_seconds = 0);
  DISTRIBUTE_INLINE ~EngineMessages() override;

  const char* name() const override { return group_->name(); }
  int rank() const override { return rank_; }
  int size() const override { return int(peers_.size()); }
  DISTRIBUTE_INLINE void begin(const Operation& operation) override;
  DISTRIBUTE_INLINE void send(int to, uint64_t tag, std::span<const std::byte> bytes,
                              bool urgent) override;
  DISTRIBUTE_INLINE void receive(int from, uint64_t tag, std::span<std::byte> out) override;
  DISTRIBUTE_INLINE Event next() override;
  DISTRIBUTE_INLINE void finish() override;
  DISTRIBUTE_INLINE void look() override;
  DISTRIBUTE_INLINE void throw_if_aborted() override;
  DISTRIBUTE_INLINE void abort(StatusCode code, const std::string& message) override;
  DISTRIBUTE_INLINE void hang_up(StatusCode code, const std::string& message) override;

  /// Starts the engine's own all-reduce for the running operation; finish() waits for it.
  void all_reduce(int dtype, int op);
  EngineGroup& group() { return *group_; }

 private:
  struct Incoming {
    uint64_t tag;
    std::span<std::byte> out;
    uint64_t slot;  // slot of contents received separately, else kNoSlot
  };
  /// Messages of one kind from a rank, which are numbered.
  struct Channel {
    EngineBufferPointer buffer;
    bool arrived = false;  // before this rank needs it
  };
  struct Peer : MessagePeer {
    std::array<Channel, 2> channels;  // of collectives, and from point to point
    std::vector<Incoming> wanted;
    // heads of this collective that came before their receive()
    std::vector<EngineBufferPointer> early;
    uint64_t parts_sent = 0, parts_come = 0;  // point-to-point, since the start
    bool lost = false;
    std::string why;
  };
  // Cookies of requests that are not a slot of a message.
  static constexpr uint64_t kHeads = uint64_t{1} << 62, kReduction = kHeads << 1,
                            kLastWords = kReduction + 1, kNoSlot = kReduction + 2;

  Peer& peer(int rank) { return peers_[size_t(rank)]; }
  void post(int from, int channel);
  void write_head(EngineBuffer& buffer, int to, const MessageHeader& header) const;
  bool turn_once();
  void turn();
  void take(const distribute_engine_event& event);
  void end_part(uint64_t cookie);
  void fail_part(uint64_t cookie, int code);
  void end_message(int peer, uint64_t tag, bool sent);
  void read(int from, int channel);
  bool read_head(int from, int channel);
  bool read_collective(int from, const EngineHead& head);
  bool read_point_to_point(int from, const EngineHead& head);
  bool deliver(int from, const EngineBuffer& buffer);
  bool take_early(int from);
  void lose(int who, const std::string& why);
  void throw_if_lost();
  void late();
  void check_departures();
  DISTRIBUTE_INLINE void wake() override;

  const int rank_;
  std::unique_ptr<EngineGroup> group_;
  std::vector<Peer> peers_;
  const EngineProofs proofs_;
  EngineSlots slots_;
  std::array<distribute_engine_event, 64> engine_events_;
  std::span<const distribute_engine_event> unread_;
  std::deque<Event> events_;
  size_t pending_ = 0;  // unfinished messages of all peers, and the engine's all-reduce
  RunningOperation running_;
  bool broken_ = false;
  bool reduction_failed_ = false;
  int last_words_ = 0;

  net::WakeUp wake_;  // signalled by abort() and depart()
  AbortState aborted_;
  EngineWait wait_;
};

}  // namespace distribute::collective
