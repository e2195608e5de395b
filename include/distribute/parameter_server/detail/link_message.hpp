#pragma once
/// What a client and a server say to each other on their data connection: requests with bytes, each
/// answered in its turn.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/net/bytes.hpp>
#include <distribute/parameter_server/detail/push.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace distribute::parameter_server {

inline constexpr const char* kLinkPurpose = "parameters";
/// Bytes of one call of the system: more at a time is slower, as they leave the cache.
inline constexpr size_t kCallBytes = size_t{256} << 10;
/// The longest head; what follows it is bounded by the variables it is for.
inline constexpr uint64_t kMostHeadBytes = uint64_t{64} << 20;

/// A head is a frame: number of bytes that follow it (uint64), then what each request needs.
enum class LinkRequest : uint16_t {
  Share = 96,  // host, then descriptors through a Unix socket
  Pull,        // variables and the versions that the client has
  Assign,      // variable + values
  AssignAdd,   // variable, origin + values -> new values
  Fill,        // variable, number
  ReadRows,    // variable, first row, rows -> values
  WriteRows,   // variable, first row, rows + values
  Gather,      // variable, rows + row numbers -> values
  Push,        // origin, kernel, updates + gradients: staged, and applied at once when asked
  Commit,      // number of a push that is staged
  Drop,        // number of a push that is staged
  Rounds,      // of synchronous training
  Flush,       // nothing: everything before it is done
};
/// "push"; "unknown" for other numbers.
const char* name_of(LinkRequest request);
inline constexpr uint16_t kLinkAnswer = 128;  // status, error, then what each request gives

/// Where bytes of a message are.
enum class Where : uint8_t {
  Unchanged,  // the client has them
  Inline,     // they follow the head
  Halved,     // they follow the head as bfloat16
  Arena,      // in the sender's shared memory
};

void write_origin(net::ByteWriter& head, const UpdateOrigin& origin);  // appends it to a message
UpdateOrigin read_origin(net::ByteReader& head);                       // takes it from a message

/// float32 to bfloat16 and back.
void narrow(const float* from, uint16_t* to, int64_t count);
void widen(const uint16_t* from, float* to, int64_t count);

}  // namespace distribute::parameter_server
