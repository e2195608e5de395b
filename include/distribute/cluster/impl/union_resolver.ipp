#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_resolvers.hpp>

#include <set>

namespace distribute {

DISTRIBUTE_INLINE UnionResolver::UnionResolver(
    std::vector<std::shared_ptr<const ClusterResolver>> resolvers, UnionResolverOptions options)
    : resolvers_(std::move(resolvers)) {
  if (resolvers_.empty()) throw InvalidArgumentError("At least one ClusterResolver is required.");
  for (const auto& resolver : resolvers_)
    if (!resolver)
      throw InvalidArgumentError("UnionResolver: one of the resolvers is a null pointer");
  environment_ = resolvers_[0]->environment();
  set_task_type(std::move(options.task_type));
  set_task_id(options.task_id);
  set_rpc_layer(std::move(options.rpc_layer));
}

DISTRIBUTE_INLINE ClusterSpec UnionResolver::cluster_spec() const {
  std::vector<ClusterSpec> specs;
  std::set<std::string> sparse;
  for (const auto& resolver : resolvers_) {
    specs.push_back(resolver->cluster_spec());
    for (const auto& [job, tasks] : specs.back().as_dict())
      if (!tasks.dense()) sparse.insert(job);
  }
  std::map<std::string, std::map<int, std::string>> merged;
  for (const ClusterSpec& spec : specs)
    for (const auto& [job, tasks] : spec.as_dict()) {
      const int shift = sparse.contains(job) ? 0 : int(merged[job].size());
      for (const auto& [index, address] : tasks.by_index())
        if (!merged[job].emplace(index + shift, address).second)
          throw InvalidArgumentError(
              str_cat("Duplicate keys detected when merging two ClusterSpecs: job ",
                      untrusted::shown(job), ", index ", index));
      merged[job];  // a job without tasks stays
    }
  return ClusterSpec(ClusterSpec::Jobs(merged.begin(), merged.end()));
}

DISTRIBUTE_INLINE std::string UnionResolver::find_master(
    const std::optional<TaskType>& task_type, std::optional<int> task_id,
    const std::optional<std::string>& rpc) const {
  if (!task_type || !task_id) return resolvers_[0]->master({}, {}, rpc);
  const std::string layer = rpc && !rpc->empty() ? *rpc : rpc_layer().value_or("");
  return cluster_internal::format_master_url(
      cluster_spec().task_address(task_type->name(), *task_id), layer);
}

}  // namespace distribute
