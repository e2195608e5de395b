#pragma once
/// All bodies of the annex saved_model.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/saved_model/impl/graph_builder.ipp>
#include <distribute/saved_model/impl/graph_def.ipp>
#include <distribute/saved_model/impl/graph_kernels.ipp>
#include <distribute/saved_model/impl/graph_kernels_arrays.ipp>
#include <distribute/saved_model/impl/graph_kernels_images.ipp>
#include <distribute/saved_model/impl/graph_kernels_lists.ipp>
#include <distribute/saved_model/impl/graph_kernels_math.ipp>
#include <distribute/saved_model/impl/graph_reader.ipp>
#include <distribute/saved_model/impl/graph_runner.ipp>
#include <distribute/saved_model/impl/inference_graph.ipp>
#include <distribute/saved_model/impl/loaded_model.ipp>
#include <distribute/saved_model/impl/lowering.ipp>
#include <distribute/saved_model/impl/lowering_arrays.ipp>
#include <distribute/saved_model/impl/lowering_images.ipp>
#include <distribute/saved_model/impl/lowering_math.ipp>
#include <distribute/saved_model/impl/onnx.ipp>
#include <distribute/saved_model/impl/onnx_builder.ipp>
#include <distribute/saved_model/impl/onnx_graph.ipp>
#include <distribute/saved_model/impl/onnx_graph_arrays.ipp>
#include <distribute/saved_model/impl/onnx_graph_images.ipp>
#include <distribute/saved_model/impl/onnx_graph_math.ipp>
#include <distribute/saved_model/impl/operation_names.ipp>
#include <distribute/saved_model/impl/registration.ipp>
#include <distribute/saved_model/impl/saved_model.ipp>

#include <distribute/base/detail/macros_back.inc>
