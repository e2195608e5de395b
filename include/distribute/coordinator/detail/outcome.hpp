#pragma once
/// Result of a function on its worker, as sent to the coordinator.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/net/message.hpp>

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

namespace distribute::coordinator_internal {

enum class OutcomeKind : uint8_t {
  Finished,      // text: the result's bytes
  Failed,        // code and message of what the function threw
  Cancelled,     // at the coordinator's request
  ResourceLost,  // it needs a resource that this worker does not have (any more)
};

struct Outcome {
  OutcomeKind kind = OutcomeKind::Finished;
  StatusCode code = StatusCode::Ok;
  std::string text;
  int32_t lost_server = -1;  // the parameter server that was lost while the function ran

  void fields(net::FieldVisitor& visit) {
    visit("kind", kind, OutcomeKind::ResourceLost)("code", code, StatusCode::Unauthenticated);
    visit("text", text)("lost server", lost_server);
  }
  std::string encode() const { return net::encode_message(*this); }
  /// Throws  DataLossError
  static Outcome decode(std::string_view bytes);
  /// Describes the exception that is being handled. `cancelled` tells whether it was asked to end.
  static Outcome of_current_exception(bool cancelled);
  /// Returns the error of a function that failed, with `where` in front of the message.
  std::exception_ptr error(const std::string& where) const;
};

}  // namespace distribute::coordinator_internal
