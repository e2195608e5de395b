#pragma once
#include <distribute/coordinator/detail/outcome.hpp>
#include <distribute/coordinator/detail/registry.hpp>
#include <distribute/coordinator/remote_value.hpp>
#include <distribute/rpc/detail/peer.hpp>

namespace distribute::coordinator_internal {

DISTRIBUTE_INLINE Outcome Outcome::decode(std::string_view bytes) {
  auto outcome = from_bytes<Outcome>(bytes, "worker's answer");
  if (outcome.kind == OutcomeKind::Failed && outcome.code == StatusCode::Ok)
    throw DataLossError("a worker's answer is damaged: it has failed without an error");
  return outcome;
}

DISTRIBUTE_INLINE Outcome Outcome::of_current_exception(bool cancelled) {
  try {
    throw;
  } catch (const ResourceLostError& error) {
    return {OutcomeKind::ResourceLost, error.code(), error.what()};
  } catch (const rpc::LostTaskError& error) {
    const rpc::PeerName& task = error.task();
    return {OutcomeKind::Failed, error.code(), error.what(), task.type == "ps" ? task.index : -1};
  } catch (const Error& error) {
    const bool as_asked = cancelled && error.code() == StatusCode::Cancelled;
    return {as_asked ? OutcomeKind::Cancelled : OutcomeKind::Failed, error.code(), error.what()};
  } catch (const std::exception& error) {
    return {OutcomeKind::Failed, StatusCode::Unknown, error.what()};
  } catch (...) {
    return {OutcomeKind::Failed, StatusCode::Unknown, "something that is no std::exception"};
  }
}

DISTRIBUTE_INLINE std::exception_ptr Outcome::error(const std::string& where) const {
  try {
    throw_error(code, where + ": " + text);
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace distribute::coordinator_internal
