#pragma once
/// Sends gradients to parameter servers, which update the variables.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/cuda_staging.hpp>
#include <distribute/strategy/detail/local_reducer.hpp>
#include <distribute/strategy/detail/server_access.hpp>

#include <memory>
#include <span>
#include <string>
#include <utility>

namespace distribute::strategy_internal {

/// Reducer of one of the replicas of a run: the gradients of all local replicas are summed and
/// pushed together.
class ServerReducer final : public replica_internal::GradientReducer {
 public:
  /// With `places` the tape writes gradients into memory that the servers of this host can read.
  ServerReducer(LocalReplicaContext& context, std::shared_ptr<ServerAccess> link, bool places)
      : GradientReducer({.placer = places ? link.get() : nullptr, .updates_on_host = true}),
        context_(context),
        link_(std::move(link)),
        local_(context) {}

  void missing(const std::string& names) override { local_.missing(names); }
  DISTRIBUTE_INLINE void update(std::span<const VariableUpdate> updates, bool gradients_are_reduced,
                                const UpdateKernel& kernel) override;
  DISTRIBUTE_INLINE int64_t update_and_count(std::span<const VariableUpdate> updates,
                                             bool gradients_are_reduced, const UpdateKernel& kernel,
                                             const Variable& counter) override;

 private:
  struct Call;
  LocalReplicaContext& context_;
  const std::shared_ptr<ServerAccess> link_;
  LocalReducer local_;  // for its notes about missing gradients
};

/// Reducer of a coordinator's closure, which is one replica.
class ClosureReducer final : public replica_internal::GradientReducer {
 public:
  /// `link` is null without a cluster; the variables are then in this process.
  ClosureReducer(std::shared_ptr<ServerAccess> link, std::shared_ptr<StagingMemory> staging)
      : GradientReducer({.updates_on_host = true}),
        link_(std::move(link)),
        staging_(std::move(staging)) {}

  DISTRIBUTE_INLINE void update(std::span<const VariableUpdate> updates, bool gradients_are_reduced,
                                const UpdateKernel& kernel) override;
  DISTRIBUTE_INLINE int64_t update_and_count(std::span<const VariableUpdate> updates,
                                             bool gradients_are_reduced, const UpdateKernel& kernel,
                                             const Variable& counter) override;

 private:
  const std::shared_ptr<ServerAccess> link_;
  const std::shared_ptr<StagingMemory> staging_;  // null if no device is a GPU
};

}  // namespace distribute::strategy_internal
