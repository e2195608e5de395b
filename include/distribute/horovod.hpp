#pragma once
/// The annex horovod.
/// Written by tools/check_umbrella.py.

#include <distribute/horovod/basics.hpp>
#include <distribute/horovod/callbacks.hpp>
#include <distribute/horovod/collectives.hpp>
#include <distribute/horovod/compression.hpp>
#include <distribute/horovod/distributed_gradient_tape.hpp>
#include <distribute/horovod/distributed_optimizer.hpp>
#include <distribute/horovod/elastic_run.hpp>
#include <distribute/horovod/elastic_state.hpp>
#include <distribute/horovod/functions.hpp>
#include <distribute/horovod/gradient_reducer.hpp>
#include <distribute/horovod/handle.hpp>
#include <distribute/horovod/op.hpp>
#include <distribute/horovod/process_set.hpp>

#ifndef DISTRIBUTE_SEPARATE_COMPILATION
#include <distribute/impl/horovod_bodies.hpp>
#endif
