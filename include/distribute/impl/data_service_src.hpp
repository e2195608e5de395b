#pragma once
/// All bodies of the annex data_service.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/data_service/impl/data_service.ipp>
#include <distribute/data_service/impl/dispatcher.ipp>
#include <distribute/data_service/impl/dispatcher_readers.ipp>
#include <distribute/data_service/impl/dispatcher_saves.ipp>
#include <distribute/data_service/impl/dispatcher_state.ipp>
#include <distribute/data_service/impl/dispatcher_workers.ipp>
#include <distribute/data_service/impl/intervals.ipp>
#include <distribute/data_service/impl/local_workers.ipp>
#include <distribute/data_service/impl/pipelines.ipp>
#include <distribute/data_service/impl/save_runner.ipp>
#include <distribute/data_service/impl/service_reader.ipp>
#include <distribute/data_service/impl/service_task.ipp>
#include <distribute/data_service/impl/task_runner.ipp>
#include <distribute/data_service/impl/worker_server.ipp>

#include <distribute/base/detail/macros_back.inc>
