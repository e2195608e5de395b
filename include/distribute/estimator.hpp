#pragma once
/// The annex estimator.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/estimator/checkpoint_saver_hook.hpp>
#include <distribute/estimator/estimator.hpp>
#include <distribute/estimator/monitored_training_session.hpp>
#include <distribute/estimator/session_run_hook.hpp>
#include <distribute/estimator/supervisor.hpp>
#include <distribute/estimator/train_and_evaluate.hpp>

#ifndef DISTRIBUTE_SEPARATE_COMPILATION
#include <distribute/impl/estimator_bodies.hpp>
#endif

#include <distribute/base/detail/macros_back.inc>
