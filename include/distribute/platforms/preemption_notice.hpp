#pragma once
/// Asks a cloud's metadata server whether the cloud is about to stop this machine.

#include <distribute/base/config.hpp>

#include <functional>
#include <memory>
#include <string>

namespace distribute::train {

struct PreemptionNoticeOptions {  // options of PreemptionNotice
  /// "gce" asks for instance/preempted and instance/maintenance-event of Compute Engine; "ec2" for
  /// the spot instance action of EC2, by IMDSv2; "azure" for scheduled events.
  std::string platform;
  /// The server as "http://host". "" means GCE_METADATA_HOST or GCE_METADATA_IP,
  /// AWS_EC2_METADATA_SERVICE_ENDPOINT, or the platform's well-known address.
  std::string endpoint = {};
  double poll_seconds = 5;
  double request_timeout = 2;  // seconds for one request
  int max_failures = 6;        // failures in a row after which it logs one line and stops asking
  std::function<void(const std::string& line)> log = {};  // unset: stderr
};

/// Asks on a thread of its own, so that a server that never answers does not delay the training.
/// While the object lives, a notice has the effect of SIGTERM on everything in the process that
/// saves or leaves: PreemptionCheckpointHandler, ChiefPreemptionHandler, PreemptionWatcher, elastic
/// loops, and Server::join of a worker. Thread-safe.
/// Source  termination_watcher_function_gce of TensorFlow's failure_handling_util.py; EC2 "Spot
///         Instance interruption notices"; Azure "Scheduled Events"
class PreemptionNotice {
 public:
  /// Throws  InvalidArgumentError for an unknown platform or times that are not positive;
  ///         UnimplementedError in a build without libcurl.
  explicit PreemptionNotice(PreemptionNoticeOptions options);
  /// Waits for a running request, at most for its time-out.
  ~PreemptionNotice();
  PreemptionNotice(const PreemptionNotice&) = delete;
  PreemptionNotice& operator=(const PreemptionNotice&) = delete;

  /// Returns whether a notice has arrived. Does not block.
  bool has_come() const;
  /// False once it has stopped asking after failures.
  bool is_asking() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace distribute::train
