#pragma once
/// All bodies of the annex horovod.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/horovod/impl/basics.ipp>
#include <distribute/horovod/impl/callbacks.ipp>
#include <distribute/horovod/impl/collectives.ipp>
#include <distribute/horovod/impl/compression.ipp>
#include <distribute/horovod/impl/coordinator_thread.ipp>
#include <distribute/horovod/impl/distributed_gradient_tape.ipp>
#include <distribute/horovod/impl/distributed_optimizer.ipp>
#include <distribute/horovod/impl/elastic_job.ipp>
#include <distribute/horovod/impl/elastic_run.ipp>
#include <distribute/horovod/impl/elastic_state.ipp>
#include <distribute/horovod/impl/engine.ipp>
#include <distribute/horovod/impl/engine_options.ipp>
#include <distribute/horovod/impl/engine_scope.ipp>
#include <distribute/horovod/impl/engine_thread.ipp>
#include <distribute/horovod/impl/execution.ipp>
#include <distribute/horovod/impl/functions.ipp>
#include <distribute/horovod/impl/gradient_reducer.ipp>
#include <distribute/horovod/impl/handle.ipp>
#include <distribute/horovod/impl/negotiation.ipp>
#include <distribute/horovod/impl/op.ipp>
#include <distribute/horovod/impl/process_set.ipp>
#include <distribute/horovod/impl/rank_place.ipp>
#include <distribute/horovod/impl/reduction_memory.ipp>
#include <distribute/horovod/impl/request.ipp>

#include <distribute/base/detail/macros_back.inc>
