#pragma once
/// The annex torch.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/torch/distributed_data_parallel.hpp>
#include <distribute/torch/distributed_sampler.hpp>
#include <distribute/torch/elastic.hpp>
#include <distribute/torch/process_group.hpp>
#include <distribute/torch/sync_batch_norm.hpp>

#ifndef DISTRIBUTE_SEPARATE_COMPILATION
#include <distribute/impl/torch_bodies.hpp>
#endif

#include <distribute/base/detail/macros_back.inc>
