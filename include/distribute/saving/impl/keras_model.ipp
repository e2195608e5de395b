#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/checkpoint/worker_path.hpp>
#include <distribute/io/atomic_file.hpp>
#include <distribute/nn/sequential.hpp>
#include <distribute/saving/detail/layer_config.hpp>
#include <distribute/saving/detail/weight_files.hpp>
#include <distribute/saving/detail/zip_file.hpp>
#include <distribute/saving/keras_model.hpp>
#include <distribute/strategy/strategy.hpp>

#include <ctime>
#include <nlohmann/json.hpp>

namespace distribute::saving_internal {

/// metadata.json: the version whose format it is, and when.
DISTRIBUTE_INLINE std::string model_metadata() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d@%H:%M:%S", &parts);
  return nlohmann::ordered_json({{"keras_version", "3.15.1"}, {"date_saved", text}}).dump();
}

}  // namespace distribute::saving_internal

namespace distribute::saving {

DISTRIBUTE_INLINE void save_model(nn::Module& model, const std::string& path) {
  using namespace saving_internal;
  if (!path.ends_with(".keras"))
    throw InvalidArgumentError(str_cat("save_model: '", path, "' must end in .keras"));
  const auto* sequential = dynamic_cast<const nn::Sequential*>(&model);
  if (!sequential)
    throw UnimplementedError(str_cat("save_model: '", model.name(), "' is a ", model.class_name(),
                                     ", and only a Sequential can be described for Keras; ",
                                     "save_weights writes the weights of any model"));
  const std::string config = model_config(*sequential);
  const std::string bytes = encode_zip({{"metadata.json", model_metadata()},
                                        {"config.json", config},
                                        {"model.weights.h5", encode_hdf5(weights_h5(model))}});
  checkpoint_internal::write_on_all_workers(
      get_strategy(), path, "",
      [&](const std::string& place) { throw_if_error(io::write_file_atomically(place, bytes)); },
      [](const auto& write) { write(); });
}

}  // namespace distribute::saving
