#pragma once
/// All bodies of the annex saving.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/saving/impl/assign_weights.ipp>
#include <distribute/saving/impl/config_reader.ipp>
#include <distribute/saving/impl/config_writer.ipp>
#include <distribute/saving/impl/file_values.ipp>
#include <distribute/saving/impl/hdf5_file.ipp>
#include <distribute/saving/impl/hdf5_file_stub.ipp>
#include <distribute/saving/impl/hdf5_file_write.ipp>
#include <distribute/saving/impl/hdf5_library.ipp>
#include <distribute/saving/impl/hdf5_scan.ipp>
#include <distribute/saving/impl/keras_model.ipp>
#include <distribute/saving/impl/layer_config.ipp>
#include <distribute/saving/impl/layer_config_images.ipp>
#include <distribute/saving/impl/layer_config_sequences.ipp>
#include <distribute/saving/impl/layer_maker.ipp>
#include <distribute/saving/impl/layer_maker_images.ipp>
#include <distribute/saving/impl/layer_maker_sequences.ipp>
#include <distribute/saving/impl/legacy_weights.ipp>
#include <distribute/saving/impl/lora_weights.ipp>
#include <distribute/saving/impl/model_config.ipp>
#include <distribute/saving/impl/model_maker.ipp>
#include <distribute/saving/impl/optimizer_state.ipp>
#include <distribute/saving/impl/preprocessing_layers.ipp>
#include <distribute/saving/impl/registration.ipp>
#include <distribute/saving/impl/safetensors.ipp>
#include <distribute/saving/impl/separate_process.ipp>
#include <distribute/saving/impl/weight_files.ipp>
#include <distribute/saving/impl/weight_groups.ipp>
#include <distribute/saving/impl/weight_layouts.ipp>
#include <distribute/saving/impl/weight_names.ipp>
#include <distribute/saving/impl/weight_rules.ipp>
#include <distribute/saving/impl/weight_rules_files.ipp>
#include <distribute/saving/impl/weights.ipp>
#include <distribute/saving/impl/zip_file.ipp>
#include <distribute/saving/impl/zip_file_stub.ipp>

#include <distribute/base/detail/macros_back.inc>
