#pragma once
#include <distribute/strategy/detail/parameter_server_extended.hpp>
#include <distribute/strategy/parameter_server_job.hpp>

namespace distribute {

DISTRIBUTE_INLINE std::optional<ParameterServerJob> ParameterServerJob::of(
    const Strategy& strategy) {
  auto* extended = strategy_internal::parameter_server_extended(strategy);
  if (!extended || !extended->job().task) return std::nullopt;
  return ParameterServerJob(*extended);
}

DISTRIBUTE_INLINE const ClusterSpec& ParameterServerJob::cluster() const {
  return extended_->job().cluster;
}

DISTRIBUTE_INLINE const std::string& ParameterServerJob::task_type() const {
  return extended_->job().type;
}

DISTRIBUTE_INLINE int ParameterServerJob::task_id() const { return extended_->job().index; }

DISTRIBUTE_INLINE bool ParameterServerJob::is_chief() const { return extended_->job().is_chief; }

DISTRIBUTE_INLINE bool ParameterServerJob::variables_are_new() const {
  return extended_->variables_are_new();
}

DISTRIBUTE_INLINE bool ParameterServerJob::servers_have_kept_variables() const {
  return extended_->servers_have_kept_variables();
}

DISTRIBUTE_INLINE void ParameterServerJob::set_initialized(const std::string& note) const {
  extended_->set_initialized(note);
}

DISTRIBUTE_INLINE std::string ParameterServerJob::wait_until_initialized(
    std::optional<double> seconds) const {
  return extended_->wait_until_initialized(seconds);
}

}  // namespace distribute
