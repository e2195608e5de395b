#pragma once
#include <distribute/base/status.hpp>
#include <distribute/coordinator/wire_value.hpp>

#include <memory>

namespace distribute::coordinator_internal {

DISTRIBUTE_INLINE void throw_if_damaged(const absl::Status& parsed) {
  if (!parsed.ok()) throw DataLossError(std::string(parsed.message()));
}

}  // namespace distribute::coordinator_internal

namespace distribute::net {

DISTRIBUTE_INLINE void FieldsOf<data::Batch>::visit(FieldVisitor& visit, data::Batch& batch) {
  std::vector<Tensor> components;
  std::vector<std::string> names;
  if (!visit.fills()) {
    components = batch.components();
    if (batch.names) names = *batch.names;
  }
  visit("components", components);
  visit("names", names);
  if (!visit.fills()) return;
  if (!names.empty() && names.size() != components.size())
    return visit.refuse("has another number of names than of components");
  batch = data::Batch::from_components(
      std::move(components),
      names.empty() ? nullptr : std::make_shared<const std::vector<std::string>>(std::move(names)));
}

}  // namespace distribute::net
