#pragma once
/// The bodies that datasets.hpp reaches.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/impl/data_shared.hpp>
#include <distribute/impl/datasets_src.hpp>

#include <distribute/device/impl/cuda_activity.ipp>
#include <distribute/device/impl/cuda_activity_cupti.ipp>

#include <distribute/data/impl/file_list.ipp>
#include <distribute/data/impl/fixed_length_record.ipp>
#include <distribute/data/impl/saved_dataset.ipp>
#include <distribute/data/impl/snapshot.ipp>
#include <distribute/data/impl/text_lines.ipp>
#include <distribute/data/impl/tfrecord.ipp>

#include <distribute/base/detail/macros_back.inc>
