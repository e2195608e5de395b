#pragma once
/// All bodies of the annex estimator.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/estimator/impl/checkpoint_saver_hook.ipp>
#include <distribute/estimator/impl/estimator.ipp>
#include <distribute/estimator/impl/exporters.ipp>
#include <distribute/estimator/impl/log_lines.ipp>
#include <distribute/estimator/impl/logging_tensor_hook.ipp>
#include <distribute/estimator/impl/monitored_training_session.ipp>
#include <distribute/estimator/impl/nan_tensor_hook.ipp>
#include <distribute/estimator/impl/run_config_cluster.ipp>
#include <distribute/estimator/impl/saved_versions.ipp>
#include <distribute/estimator/impl/step_counter_hook.ipp>
#include <distribute/estimator/impl/stop_at_step_hook.ipp>
#include <distribute/estimator/impl/summary_saver_hook.ipp>
#include <distribute/estimator/impl/supervisor.ipp>
#include <distribute/estimator/impl/train_and_evaluate.ipp>

#include <distribute/base/detail/macros_back.inc>
