#pragma once
#include <distribute/coordinator/detail/outcome.hpp>
#include <distribute/coordinator/detail/registry.hpp>
#include <distribute/coordinator/remote_value.hpp>

#include <charconv>

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

DISTRIBUTE_INLINE std::optional<int> named_parameter_server(std::string_view message) {
  for (size_t at = message.find("ps "); at != message.npos; at = message.find("ps ", at + 1)) {
    const bool word = at == 0 || !std::isalnum(static_cast<unsigned char>(message[at - 1]));
    int number = 0;
    const char* begin = message.data() + at + 3;
    const char* end = message.data() + message.size();
    const auto [after, problem] = std::from_chars(begin, end, number);
    if (word && problem == std::errc() && std::string_view(after, end).starts_with(" ("))
      return number;
  }
  return std::nullopt;
}

}  // namespace distribute::coordinator_internal
