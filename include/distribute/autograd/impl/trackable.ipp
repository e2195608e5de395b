#pragma once
#include <distribute/autograd/trackable.hpp>

namespace distribute {

DISTRIBUTE_INLINE void Trackable::restore_added(const std::string& name,
                                                const Trackable& part) const {
  if (!restorer_) return;
  part.restorer_ = restorer_->part(name);
  if (!part.restorer_) return;
  for (const NamedVariable& own : part.own_variables())
    part.restore_created(own.name, own.variable);
  for (const Child& child : part.children()) part.restore_added(child.name, *child.object);
}

}  // namespace distribute
