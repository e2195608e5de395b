#pragma once
/// The registered kinds of resolvers, and those whose headers are missing.

#include <distribute/cluster/default_resolver.hpp>

#include <initializer_list>
#include <vector>

namespace distribute::cluster_internal {

/// Whether all of these variables are set.
bool has_all(const Environment& variables, std::initializer_list<const char*> names);

/// Returns the kinds in the order in which they are checked. The kinds of
/// <distribute/platforms.hpp> are among them in every program: without that header their `make`
/// throws an error that names it, since tasks that do not find each other would each train alone.
std::vector<ResolverKind> resolver_kinds();

}  // namespace distribute::cluster_internal
