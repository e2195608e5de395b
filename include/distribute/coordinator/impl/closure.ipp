#pragma once
#include <distribute/coordinator/per_worker_values.hpp>

namespace distribute::coordinator_internal {

DISTRIBUTE_INLINE std::exception_ptr cancelled_error(const std::string& label) {
  return std::make_exception_ptr(CancelledError("The corresponding function, " + label +
                                                ", is cancelled. Please reschedule the function."));
}

DISTRIBUTE_INLINE void Closure::mark_cancelled() const {
  output->set_error(cancelled_error(label));
}

/// The bytes of a worker's element.
DISTRIBUTE_INLINE std::shared_ptr<const std::string> element_bytes(const Closure& closure,
                                                                   const ClosureArgument& argument,
                                                                   int worker) {
  try {
    return argument.per_worker.at(size_t(worker))->bytes();
  } catch (const Error& error) {
    throw ClosureInputError(str_cat("input of ", closure.label, ": ", error.what()));
  }
}

DISTRIBUTE_INLINE std::string Closure::body_for(int worker) const {
  net::ByteWriter body;
  body.text(label).number(uint32_t(arguments.size()));
  for (const ClosureArgument& argument : arguments)
    body.text(argument.bytes ? *argument.bytes : *element_bytes(*this, argument, worker));
  return body.take();
}

}  // namespace distribute::coordinator_internal
