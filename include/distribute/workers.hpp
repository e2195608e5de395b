#pragma once
/// Strategies of several tasks, beside one_process.hpp, with its bodies.
/// Written by tools/check_umbrella.py.

#include <distribute/strategy/cache_variable_reads.hpp>
#include <distribute/strategy/make_strategy.hpp>
#include <distribute/strategy/multi_worker_mirrored_strategy.hpp>
#include <distribute/strategy/parameter_server_job.hpp>
#include <distribute/strategy/parameter_server_strategy.hpp>
#include <distribute/strategy/replica_device_setter.hpp>

#include <distribute/collective/timeline.hpp>

#ifndef DISTRIBUTE_SEPARATE_COMPILATION
#include <distribute/impl/workers_bodies.hpp>
#endif
