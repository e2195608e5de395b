#pragma once
/// One collective operation as one rank sees it.

#include <distribute/base/config.hpp>
#include <distribute/device/dtype.hpp>
#include <distribute/net/deadline.hpp>
#include <distribute/net/message.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace distribute::collective {

enum class Collective : uint8_t {  // the kinds of collective operation
  AllReduce,
  Reduce,
  ReduceScatter,
  AllGather,
  Gather,
  Broadcast,
  AllToAll,
  Send,
  Receive,
  Barrier,
};
inline constexpr size_t kCollectives = size_t(Collective::Barrier) + 1;

/// How elements of several ranks are combined. Sums are taken in the order of a binary tree that
/// depends on the number of ranks alone (detail/sum_order.hpp); 16-bit floats add in float32. For
/// Bool, Sum and Max are "or", Product and Min are "and".
enum class ReductionOp : uint8_t { Sum, Mean, Min, Max, Product };

/// Arguments of an operation. The ranks of a group must agree on all but the pointers.
struct Operation {
  Collective kind = Collective::Barrier;
  ReductionOp op = ReductionOp::Sum;
  DType dtype = DType::UInt8;
  /// Number of elements: of the whole array for AllReduce, Reduce, Broadcast, Send, Receive; for
  /// each pair of ranks for AllToAll; unused if `counts` is set.
  int64_t count = 0;
  /// Number of elements of each rank's part, for ReduceScatter, AllGather and Gather.
  std::span<const int64_t> counts = {};
  /// The root of Reduce, Gather and Broadcast; the other end of Send and Receive.
  int peer = 0;
  /// Both may be the same memory (for Broadcast always `output`); one is null if the rank sends or
  /// receives nothing.
  const void* input = nullptr;
  void* output = nullptr;
  /// Number of the operation in its group, counted by every rank from 1. Send and Receive have
  /// none.
  uint64_t sequence = 0;
  net::Deadline deadline = net::Deadline::after_seconds(0);
};

const char* name_of(Collective kind);  // for messages
const char* name_of(ReductionOp op);   // for messages

/// Returns the total number of elements of all parts.
int64_t total(std::span<const int64_t> counts);
/// Returns the bytes of the operation's array on one rank.
int64_t bytes_of(const Operation& operation);

/// Bytes that a rank must send to others and receive from them, with any transport.
struct Traffic {
  int64_t sent = 0, received = 0;
};
Traffic traffic_of(const Operation& operation, int rank, int size);

/// Fields on which the ranks of a group must agree, small enough to be sent with the data.
struct Signature {
  uint64_t sequence = 0;
  uint64_t counts_hash = 0;  // of `counts`
  int64_t count = 0;
  Collective kind = Collective::Barrier;
  ReductionOp op = ReductionOp::Sum;
  DType dtype = DType::UInt8;
  uint8_t unused = 0;  // no padding in shared memory
  int32_t peer = 0;
  bool operator==(const Signature&) const = default;

  /// Visits the fields for messages.
  void fields(net::FieldVisitor& visit) {
    visit("sequence", sequence)("counts_hash", counts_hash)("count", count);
    visit("kind", kind, Collective::Barrier)("op", op, ReductionOp::Product);
    visit("dtype", dtype, DType::Bool)("peer", peer);
  }
};
Signature signature_of(const Operation& operation);

/// Formats "all_reduce(sum) #12 float32 x 1000".
std::string to_string(const Signature& signature);

/// Throws  FailedPreconditionError that shows both when they differ.
void check_same(const Signature& mine, int my_rank, const Signature& other, int other_rank);

}  // namespace distribute::collective
