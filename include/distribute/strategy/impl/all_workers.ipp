#pragma once
#include <distribute/strategy/all_workers.hpp>
#include <distribute/strategy/strategy_extended.hpp>

#include <cstdlib>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE std::pair<StatusCode, std::string> describe_failure(
    const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& known) {
    return {known.code(), known.what()};
  } catch (const std::exception& other) {
    return {StatusCode::Unknown, other.what()};
  } catch (...) {
    return {StatusCode::Unknown, "an exception of unknown type"};
  }
}

/// "+RESULT", or "-CODE MESSAGE".
DISTRIBUTE_INLINE std::string outcome_text(const std::function<std::string()>& part,
                                           std::exception_ptr& error) {
  try {
    return "+" + part();
  } catch (...) {
    error = std::current_exception();
    const auto [code, message] = describe_failure(error);
    return concat("-", int(code), " ", message);
  }
}

DISTRIBUTE_INLINE std::vector<std::string> on_all_workers(
    StrategyExtended& extended, const std::function<std::string()>& part) {
  std::exception_ptr error;
  std::vector<std::string> all = extended.all_gather_texts(outcome_text(part, error));
  if (error && all.size() == 1) std::rethrow_exception(error);
  for (size_t rank = 0; rank < all.size(); ++rank) {
    std::string& text = all[rank];
    if (text[0] == '-')
      throw_error(StatusCode(std::atoi(text.c_str() + 1)),
                  concat("rank ", rank, " of ", all.size(), ": ", text.substr(text.find(' ') + 1)));
    text.erase(0, 1);
  }
  return all;
}

}  // namespace distribute::strategy_internal
