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
#include <distribute/net/wake_up.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace distribute::collective {

/// What only the two ranks of a pair know, in each direction; empty: nothing is proved.
struct EngineProofs {
  std::vector<std::string> out, in;  // 16 bytes for each rank
};

/// A message is a head, which carries short contents with it; long ones are a second message. Its
/// engine tag follows from the message's own, so that the receiver asks for it, into the memory
/// where it belongs, before either has come: engines keep what is not asked for in memory of their
/// own, and copy it once more. A head is received in one of two channels for each rank, of
/// collectives and from point to point, and stays there while its operation has not begun. A
/// message has come when its head is checked, too. Used by one thread, but for abort().
class EngineMessages final : public GroupMessages {
 public:
  /// `names` of the ranks, for messages. `spin_seconds`: how long to look before sleeping.
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

  /// The engine's own all-reduce of the operation that runs; finish() waits for it.
  void all_reduce(int dtype, int op);
  EngineGroup& group() { return *group_; }

 private:
  struct Incoming {
    uint64_t tag;
    std::span<std::byte> out;
    uint64_t slot;  // of contents that come alone, else kNoSlot
  };
  /// What a rank sends in turn.
  struct Channel {
    EngineBufferPointer buffer;
    bool arrived = false;  // before it is wanted here
  };
  struct Peer : MessagePeer {
    std::array<Channel, 2> channels;  // of collectives, and from point to point
    std::vector<Incoming> wanted;
    std::vector<EngineBufferPointer> early;   // heads of this collective, before their receive()
    uint64_t parts_sent = 0, parts_come = 0;  // point-to-point, ever
    bool lost = false;
    std::string why;
  };
  // Cookies of what is no slot of a message.
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
  size_t pending_ = 0;  // messages that are not done, of all peers, and the engine's all-reduce
  RunningOperation running_;
  bool broken_ = false;
  bool reduction_failed_ = false;
  int last_words_ = 0;

  net::WakeUp wake_;  // after abort() and depart()
  AbortState aborted_;
  EngineWait wait_;
};

}  // namespace distribute::collective
