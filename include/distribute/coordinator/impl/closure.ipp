#pragma once
#include <distribute/coordinator/detail/registry.hpp>
#include <distribute/coordinator/per_worker_values.hpp>

namespace distribute::coordinator_internal {

DISTRIBUTE_INLINE std::exception_ptr cancelled_error(const std::string& label) {
  return std::make_exception_ptr(CancelledError("The corresponding function, " + label +
                                                ", is cancelled. Please reschedule the function."));
}

DISTRIBUTE_INLINE void Closure::mark_cancelled() const {
  output->set_error(cancelled_error(label));
}

/// Returns the bytes of a worker's element.
DISTRIBUTE_INLINE std::shared_ptr<const std::string> element_bytes(const Closure& closure,
                                                                   const ClosureArgument& argument,
                                                                   int worker) {
  try {
    return argument.per_worker.at(size_t(worker))->bytes();
  } catch (const Error& error) {
    throw ClosureInputError(str_cat("input of ", closure.label, ": ", error.what()));
  }
}

DISTRIBUTE_INLINE std::string Closure::body_for(int worker, uint64_t id, uint64_t settled) const {
  ClosureCall call{.id = id, .function = number, .settled = settled, .label = label};
  std::vector<std::shared_ptr<const std::string>> kept;
  for (const ClosureArgument& argument : arguments) {
    kept.push_back(argument.bytes ? argument.bytes : element_bytes(*this, argument, worker));
    call.arguments.push_back({*kept.back()});
  }
  return net::encode_message(call);
}

}  // namespace distribute::coordinator_internal
