#pragma once
/// How the tasks of a host come to share a Window.

#include <distribute/base/config.hpp>
#include <distribute/collective/window.hpp>

#include <memory>
#include <string>

namespace distribute {
class ClusterRuntime;
}

namespace distribute::collective {

/// A window for `ranks` ranks that every task of the job maps. Rank 0 makes the memory and hands
/// its descriptor to the others through a Unix socket: who gets it is on the same host, whatever
/// names and environment say. Every task calls it with the same name.
/// Returns null on all tasks when one of them cannot map it; `reason` then says why.
/// Throws  what the runtime throws.
std::shared_ptr<Window> share_window(ClusterRuntime& runtime, const std::string& name, int ranks,
                                     std::string& reason);

}  // namespace distribute::collective

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/collective/impl/shared_window.ipp>
#endif
