#pragma once
#include <distribute/base/config.hpp>
#include <distribute/base/detail/core_watch.hpp>
#include <distribute/base/detail/library_metrics.hpp>

#include <chrono>

namespace distribute::monitoring {

/// Makes the cells while LibraryMetrics is constructed.
struct MetricMaker {
  CollectionRegistry& registry;

  CounterCell& counter(const char* name, const char* description) const {
    return registry.counter({.name = name, .description = description}).get_cell();
  }
  GaugeCell& gauge(const char* name, const char* description) const {
    return registry.gauge({.name = name, .description = description}).get_cell();
  }
  SamplerCell& seconds(const char* name, const char* description) const {
    return registry
        .sampler({.name = name,
                  .description = description,
                  .limits = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
                             30, 60, 300}})
        .get_cell();
  }
  Counter& labelled(const char* name, const char* description, std::vector<std::string> labels,
                    double unit = 1) const {
    return registry.counter(
        {.name = name, .description = description, .labels = std::move(labels), .unit = unit});
  }
  WaitCells wait(const char* cause) const {
    const std::vector<std::string> labels = {"for"};
    return {
        labelled("distribute_wait_seconds_total",
                 "Time that training threads were blocked, by what they waited for.", labels, 1e-9)
            .get_cell({cause}),
        labelled("distribute_stalls_total", "Such waits of more than a second.", labels)
            .get_cell({cause})};
  }
  Counter& transport_bytes() const {
    return labelled(
        "distribute_transport_bytes_total",
        "Bytes between tasks: with headers on sockets, elsewhere those that had to move.",
        {"service", "transport", "direction"});
  }
  TrafficCells tcp(const char* service) const {
    return {transport_bytes().get_cell({service, "tcp", "sent"}),
            transport_bytes().get_cell({service, "tcp", "received"})};
  }
  GaugeCell& queue(const char* queue) const {
    return registry
        .gauge({.name = "distribute_queue_length",
                .description = "Entries that wait in this task.",
                .labels = {"queue"}})
        .get_cell({queue});
  }
};

DISTRIBUTE_INLINE LibraryMetrics::LibraryMetrics()
    : train_steps(MetricMaker{registry}.counter("distribute_train_steps_total",
                                                "Steps of optimizers in this task.")),
      step_seconds(MetricMaker{registry}.seconds("distribute_step_seconds",
                                                 "Time from one step to the next.")),
      input_examples(MetricMaker{registry}.counter(
          "distribute_input_examples_total", "Examples that iterators over datasets gave out.")),
      wait_input(MetricMaker{registry}.wait("input")),
      wait_collective(MetricMaker{registry}.wait("collective")),
      wait_parameter_server(MetricMaker{registry}.wait("parameter_server")),
      collectives(MetricMaker{registry}.labelled("distribute_collectives_total",
                                                 "Collectives that have ended.",
                                                 {"collective", "transport"})),
      collective_time(MetricMaker{registry}.labelled("distribute_collective_seconds_total",
                                                     "Time in collectives, side by side with "
                                                     "computing or not.",
                                                     {"collective", "transport"}, 1e-9)),
      collective_bytes(MetricMaker{registry}.labelled(
          "distribute_collective_bytes_total",
          "Size of the arrays that this task's ranks brought to collectives.",
          {"collective", "transport"})),
      transport_bytes(MetricMaker{registry}.transport_bytes()),
      failed_collectives(MetricMaker{registry}.counter("distribute_collective_failures_total",
                                                       "Collectives that ended with an error.")),
      collective_tcp(MetricMaker{registry}.tcp("collective")),
      parameter_server_tcp(MetricMaker{registry}.tcp("parameter_server")),
      queued_collectives(MetricMaker{registry}.queue("collectives")),
      prefetched_batches(MetricMaker{registry}.queue("prefetch")),
      queued_closures(MetricMaker{registry}.queue("closures")),
      running_closures(MetricMaker{registry}.queue("closures_in_flight")),
      unanswered_requests(MetricMaker{registry}.queue("parameter_server_requests")),
      closures(MetricMaker{registry}.labelled("distribute_closures_total",
                                              "Closures of the coordinator that workers gave back.",
                                              {"result"})),
      server_requests(MetricMaker{registry}.labelled(
          "distribute_parameter_server_requests_total",
          "Requests that this parameter server answered.", {"request"})),
      applied_pushes(MetricMaker{registry}
                         .labelled("distribute_parameter_server_pushes_total",
                                   "Pushes of gradients at this parameter server.", {"result"})
                         .get_cell({"applied"})),
      stale_pushes(MetricMaker{registry}
                       .labelled("distribute_parameter_server_pushes_total",
                                 "Pushes of gradients at this parameter server.", {"result"})
                       .get_cell({"stale"})),
      repeated_pushes(MetricMaker{registry}
                          .labelled("distribute_parameter_server_pushes_total",
                                    "Pushes of gradients at this parameter server.", {"result"})
                          .get_cell({"repeated"})),
      stored_variables(MetricMaker{registry}.gauge("distribute_parameter_server_variables",
                                                   "Variables, slots included, on this server.")),
      stored_bytes(MetricMaker{registry}.gauge("distribute_parameter_server_bytes",
                                               "Bytes of the variables on this server.")),
      checkpoint_saves(MetricMaker{registry}.labelled(
          "distribute_checkpoint_saves_total", "Checkpoints written by this task.", {"result"})),
      checkpoint_seconds(MetricMaker{registry}.seconds("distribute_checkpoint_save_seconds",
                                                       "Time that a save took.")),
      checkpoint_restores(MetricMaker{registry}.labelled(
          "distribute_checkpoint_restores_total", "Checkpoints read by this task.", {"result"})),
      cluster_tasks(MetricMaker{registry}.gauge("distribute_cluster_tasks",
                                                "Tasks of the job; 0 until all have joined.")),
      refused_connections(MetricMaker{registry}.counter(
          "distribute_refused_connections_total",
          "Connections to this task's port that did not belong to the job.")),
      last_steps(MetricMaker{registry}.labelled(
          "distribute_straggler_steps_total",
          "Steps in which the others waited for a worker, where that costs much.", {"worker"})),
      late_time(MetricMaker{registry}.labelled("distribute_straggler_seconds_total",
                                               "How late it was, behind the mean of the others.",
                                               {"worker"}, 1e-9)),
      log_lines(MetricMaker{registry}.labelled("distribute_log_lines_total", "Lines of the log.",
                                               {"level"})),
      task_info(registry.gauge({.name = "distribute_task_info",
                                .description = "1 for the task that this process is.",
                                .labels = {"job", "index"}})) {
  registry
      .gauge({.name = "distribute_build_info",
              .description = "1 for the version and the compiler of this program.",
              .labels = {"version", "compiler"}})
      .get_cell({kVersion, __VERSION__})
      .set(1);
}

DISTRIBUTE_INLINE void LibraryMetrics::count_step() noexcept {
  using namespace std::chrono;
  const int64_t now = nanoseconds(steady_clock::now().time_since_epoch()).count();
  const int64_t last = last_step_.exchange(now, std::memory_order_relaxed);
  train_steps.increment_by();
  if (last > 0) step_seconds.add(double(now - last) * 1e-9);
  base_internal::watch_cores();
}

DISTRIBUTE_INLINE CollectiveCells LibraryMetrics::collective(const std::string& kind,
                                                             const std::string& transport) {
  CollectiveCells cells{&collectives.get_cell({kind, transport}),
                        &collective_time.get_cell({kind, transport}),
                        &collective_bytes.get_cell({kind, transport})};
  if (transport == "tcp" || transport == "hierarchical") return cells;
  cells.sent = &transport_bytes.get_cell({"collective", transport, "sent"});
  cells.received = &transport_bytes.get_cell({"collective", transport, "received"});
  return cells;
}

}  // namespace distribute::monitoring
