#pragma once
/// Connects some of a job's ranks, so that they can communicate beside the others.

#include <distribute/base/config.hpp>
#include <distribute/collective/communication_options.hpp>

#include <memory>
#include <string>
#include <vector>

namespace distribute {
class ClusterRuntime;
namespace collective {
class Communicator;
}
}  // namespace distribute

namespace distribute::horovod_internal {

/// Shared memory between members of one host, else TCP. Every rank of the job calls it with the
/// same name and members; those that are not among them get null. When the job fails, operations
/// throw the runtime's error; the caller aborts them.
/// Throws  what the runtime throws.
std::shared_ptr<collective::Communicator> connect_members(
    const std::shared_ptr<ClusterRuntime>& runtime, const std::string& name,
    const std::vector<int>& members, const CommunicationOptions& options);

}  // namespace distribute::horovod_internal
