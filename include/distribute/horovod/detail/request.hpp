#pragma once
/// The messages from ranks to the coordinator and back.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/device/dtype.hpp>
#include <distribute/horovod/collectives.hpp>
#include <distribute/net/message.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::horovod_internal {

enum class Kind : uint8_t {
  Allreduce,
  Allgather,
  Broadcast,
  Alltoall,
  Reducescatter,
  Barrier,
  Join,
  AddProcessSet,
  RemoveProcessSet,
};
const char* name_of(Kind kind);

/// The properties of an operation that must be equal on all ranks.
struct Terms {
  Kind kind = Kind::Barrier;
  hvd::Op op = hvd::Op::Sum;
  DType dtype = DType::UInt8;
  int32_t process_set = 0;
  int32_t root = 0;  // Broadcast: a rank of the job
  double prescale = 1, postscale = 1;
  bool operator==(const Terms&) const = default;

  void fields(net::FieldVisitor& visit) {
    visit("kind", kind, Kind::RemoveProcessSet)("op", op, hvd::Op::Product);
    visit("dtype", dtype, DType::Bool)("process_set", process_set)("root", root);
    visit("prescale", prescale)("postscale", postscale);
  }
};

/// The arrangement of a tensor's elements in its block.
struct Arrangement {
  std::string layout = {};  // name of a backend's Layout; empty: row-major order
  int64_t elements = 0;     // number in such a block, padding included
  bool operator==(const Arrangement&) const = default;

  void fields(net::FieldVisitor& visit) { visit("layout", layout)("elements", elements); }
};

/// Says that one rank is ready for the operation `name`.
struct Request {
  Terms terms;
  std::string name;
  std::vector<int64_t> shape = {};
  /// Alltoall: number of rows for each rank. AddProcessSet: its ranks. RemoveProcessSet: its
  /// number.
  std::vector<int64_t> splits = {};
  Arrangement arrangement = {};  // Allreduce alone
  /// The group whose operations are carried out together; empty: no group.
  std::string group = {};
  int32_t group_size = 0;

  void fields(net::FieldVisitor& visit) {
    visit("terms", terms)("name", name)("shape", shape)("splits", splits);
    visit("arrangement", arrangement)("group", group)("group_size", group_size);
  }
};

/// Formats numbers of any count as "[3, 2]".
std::string numbers_text(const std::vector<int64_t>& numbers);
/// Formats a request as "allreduce(sum) of float32 [3, 2]".
std::string to_string(const Request& request);

/// One tensor of an operation that all ranks are ready for.
struct Entry {
  std::string name;
  std::vector<int64_t> shape = {};
  /// Allgather: number of rows of each rank of the set. Alltoall: rows from each rank to each rank,
  /// by sender.
  std::vector<int64_t> sizes = {};
  /// Allreduce: the arrangement of all ranks; row-major order if they differ.
  Arrangement arrangement = {};

  void fields(net::FieldVisitor& visit) {
    visit("name", name)("shape", shape)("sizes", sizes)("arrangement", arrangement);
  }
};

/// The number of elements in the block that is reduced.
int64_t elements_of(const Entry& entry);

/// Tells a rank what to do next. An error concerns the entries or, without entries, the whole job.
struct Response {
  Terms terms;
  std::vector<Entry> entries = {};
  StatusCode code = StatusCode::Ok;
  std::string message = {};
  int32_t number = 0;                 // Join: the last rank; AddProcessSet: the new set
  std::vector<int64_t> members = {};  // AddProcessSet alone

  void fields(net::FieldVisitor& visit) {
    visit("terms", terms)("entries", entries)("code", code, StatusCode::Unauthenticated);
    visit("message", message)("number", number)("members", members);
  }
};

/// Parses a list of requests or responses that a rank has sent.
/// Throws  InternalError for other bytes.
template <typename T>
std::vector<T> decode_list(std::string_view bytes) {
  auto list = net::parse_message<std::vector<T>>(bytes, "hvd");
  if (!list.ok()) throw InternalError(std::string(list.status().message()));
  return *std::move(list);
}

}  // namespace distribute::horovod_internal
