#pragma once
/// The annex horovod.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/horovod/basics.hpp>
#include <distribute/horovod/callbacks.hpp>
#include <distribute/horovod/collectives.hpp>
#include <distribute/horovod/distributed_optimizer.hpp>
#include <distribute/horovod/elastic_state.hpp>

#ifndef DISTRIBUTE_SEPARATE_COMPILATION
#include <distribute/impl/horovod_bodies.hpp>
#endif

#include <distribute/base/detail/macros_back.inc>
