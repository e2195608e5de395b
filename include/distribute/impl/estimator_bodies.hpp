#pragma once
/// The bodies that estimator.hpp reaches.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/impl/coordinator_shared.hpp>
#include <distribute/impl/estimator_src.hpp>

#include <distribute/io/impl/growing_file.ipp>

#include <distribute/summary/impl/event.ipp>
#include <distribute/summary/impl/file_writer.ipp>
#include <distribute/summary/impl/graph.ipp>
#include <distribute/summary/impl/hparams.ipp>
#include <distribute/summary/impl/png.ipp>
#include <distribute/summary/impl/store_event_file.ipp>

#include <distribute/train/impl/checkpoint_files.ipp>
#include <distribute/train/impl/checkpoints_iterator.ipp>
#include <distribute/train/impl/counter.ipp>
#include <distribute/train/impl/follow_checkpoints.ipp>
#include <distribute/train/impl/seconds_or_steps.ipp>

#include <distribute/saved_model/impl/graph_def.ipp>
#include <distribute/saved_model/impl/inference_graph.ipp>
#include <distribute/saved_model/impl/onnx.ipp>
#include <distribute/saved_model/impl/onnx_builder.ipp>
#include <distribute/saved_model/impl/onnx_graph.ipp>
#include <distribute/saved_model/impl/onnx_graph_arrays.ipp>
#include <distribute/saved_model/impl/onnx_graph_images.ipp>
#include <distribute/saved_model/impl/onnx_graph_math.ipp>
#include <distribute/saved_model/impl/operation_names.ipp>
#include <distribute/saved_model/impl/saved_model.ipp>

#include <distribute/base/detail/macros_back.inc>
