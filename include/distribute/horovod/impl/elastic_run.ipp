#pragma once
#include <distribute/horovod/detail/elastic_job.hpp>
#include <distribute/horovod/detail/engine.hpp>
#include <distribute/horovod/detail/engine_scope.hpp>
#include <distribute/horovod/elastic_state.hpp>

#include <memory>

namespace distribute::hvd::elastic {

DISTRIBUTE_INLINE ElasticEnd run_until_done(State& state, const std::function<void()>& train,
                                            const RunOptions& options) {
  const auto job = horovod_internal::engine()->elastic_job();
  if (!job) return state.sync(), train(), ElasticEnd::Finished;
  const StateInJob in_job(state, job);
  return job->run({.train = train,
                   .sync = [&] { state.sync(); },
                   .restore = [&] { state.restore(); },
                   .on_reset = [&] { state.on_reset(); }},
                  options.reset_limit);
}

}  // namespace distribute::hvd::elastic
