#pragma once
/// What ranks tell the coordinator, and what it answers.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/device/dtype.hpp>
#include <distribute/horovod/collectives.hpp>

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

/// What all ranks of an operation have in common.
struct Terms {
  Kind kind = Kind::Barrier;
  hvd::Op op = hvd::Op::Sum;
  DType dtype = DType::UInt8;
  int32_t process_set = 0;
  int32_t root = 0;  // of Broadcast, a rank of the job
  double prescale = 1, postscale = 1;
  bool operator==(const Terms&) const = default;
};

/// How the block of a tensor's elements is arranged.
struct Arrangement {
  std::string layout = {};  // a backend's Layout, by name; empty: row-major order
  int64_t elements = 0;     // of such a block, padding included
  bool operator==(const Arrangement&) const = default;
};

/// One rank is ready for the operation `name`.
struct Request {
  Terms terms;
  std::string name;
  std::vector<int64_t> shape = {};
  /// Alltoall: rows for each rank. AddProcessSet: its ranks. RemoveProcessSet: its number.
  std::vector<int64_t> splits = {};
  Arrangement arrangement = {};  // of Allreduce
  /// Operations of a group are carried out together; empty: no group.
  std::string group = {};
  int32_t group_size = 0;
};

/// "[3, 2]", of any length.
std::string numbers_text(const std::vector<int64_t>& numbers);
/// "allreduce(sum) of float32 [3, 2]".
std::string to_string(const Request& request);

/// A tensor of an operation that all ranks are ready for.
struct Entry {
  std::string name;
  std::vector<int64_t> shape = {};
  /// Allgather: rows of each rank of the set. Alltoall: rows from each rank to each, by sender.
  std::vector<int64_t> sizes = {};
  /// Allreduce: what all ranks have; row-major order where they differ.
  Arrangement arrangement = {};
};

/// Of the block that is reduced.
int64_t elements_of(const Entry& entry);

/// What a rank shall do next. An error concerns the entries, or without entries the whole job.
struct Response {
  Terms terms;
  std::vector<Entry> entries = {};
  StatusCode code = StatusCode::Ok;
  std::string message = {};
  int32_t number = 0;                 // Join: the last rank; AddProcessSet: the new set
  std::vector<int64_t> members = {};  // AddProcessSet
};

std::string encode(const std::vector<Request>& requests);
std::string encode(const std::vector<Response>& responses);
/// Throws  InternalError for bytes that encode() has not made.
std::vector<Request> decode_requests(std::string_view bytes);
std::vector<Response> decode_responses(std::string_view bytes);

}  // namespace distribute::horovod_internal
