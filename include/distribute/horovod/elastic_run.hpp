#pragma once
/// Training that goes on when ranks are lost, leave or come.

#include <distribute/base/config.hpp>
#include <distribute/cluster/elastic_end.hpp>
#include <distribute/horovod/elastic_state.hpp>

#include <concepts>
#include <functional>
#include <utility>

namespace distribute::hvd::elastic {

using distribute::ElasticEnd;

struct RunOptions {      // options of run()
  int reset_limit = -1;  // how often the ranks may change; -1: any number
};

/// Calls `train` until it returns. The ranks meet again when one is lost (those that are left go
/// back to the last commit), and at a commit when one joins or was told to leave by SIGTERM: then
/// all take over the state of one that has the newest, and `train` is called again.
/// hvd::init() comes before; the job is elastic when InitOptions::elastic or `distribute run
/// --min-np` says so, otherwise `train` is called once. After Left and TooLate this rank is out of
/// the job, as after hvd::shutdown().
/// Throws  any error of `train` that is no other rank's end, which the others then take for this
///         rank's; UnavailableError beyond reset_limit, and when too few ranks are there in time.
/// Source  horovod.elastic.run
ElasticEnd run_until_done(State& state, const std::function<void()>& train,
                          const RunOptions& options);

/// A function that calls `train` with a state, as run_until_done() does:
///   auto train = hvd::elastic::run([&](auto& state) { ... state.commit(); ... });
///   if (train(state) == hvd::elastic::ElasticEnd::Left) return 143;
template <typename Train>
auto run(Train train, RunOptions options = {}) {
  return [train = std::move(train), options](std::derived_from<State> auto& state) mutable {
    return run_until_done(
        state, [&] { train(state); }, options);
  };
}

}  // namespace distribute::hvd::elastic
