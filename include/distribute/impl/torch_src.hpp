#pragma once
/// All bodies of the annex torch.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/torch/impl/backend.ipp>
#include <distribute/torch/impl/distributed_data_parallel.ipp>
#include <distribute/torch/impl/distributed_sampler.ipp>
#include <distribute/torch/impl/elastic.ipp>
#include <distribute/torch/impl/elastic_job.ipp>
#include <distribute/torch/impl/job.ipp>
#include <distribute/torch/impl/process_group.ipp>
#include <distribute/torch/impl/sync_batch_norm.ipp>

#include <distribute/base/detail/macros_back.inc>
