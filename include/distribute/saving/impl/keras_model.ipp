#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/checkpoint/worker_path.hpp>
#include <distribute/io/atomic_file.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/saving/detail/model_config.hpp>
#include <distribute/saving/detail/model_maker.hpp>
#include <distribute/saving/detail/optimizer_state.hpp>
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

/// A model's configuration with that of its optimizer, so that Keras makes it before it reads its
/// variables.
DISTRIBUTE_INLINE std::string with_optimizer(const std::string& config,
                                             const optim::Optimizer* optimizer) {
  if (!optimizer) return config;
  auto all = nlohmann::ordered_json::parse(config);
  all["compile_config"] = {
      {"optimizer", nlohmann::ordered_json::parse(optimizer_config(*optimizer))},
      {"loss", nullptr}};
  return all.dump();
}

}  // namespace distribute::saving_internal

namespace distribute::saving {

DISTRIBUTE_INLINE void save_model(nn::Module& model, const std::string& path,
                                  const SaveWeightsOptions& options) {
  using namespace saving_internal;
  if (!path.ends_with(".keras"))
    throw InvalidArgumentError(str_cat("save_model: '", path, "' must end in .keras"));
  const std::string config = with_optimizer(model_config(model), options.optimizer);
  const std::string bytes =
      encode_zip({{"metadata.json", model_metadata()},
                  {"config.json", config},
                  {"model.weights.h5", encode_hdf5(weights_h5(model, options.optimizer))}});
  checkpoint_internal::write_on_all_workers(
      get_strategy(), path, "",
      [&](const std::string& place) { throw_if_error(io::write_file_atomically(place, bytes)); },
      [](const auto& write) { write(); });
}

DISTRIBUTE_INLINE std::unique_ptr<nn::Module> load_model(const std::string& path) {
  using namespace saving_internal;
  if (!path.ends_with(".keras"))
    throw InvalidArgumentError(str_cat("load_model: '", path, "' must end in .keras"));
  std::string config;
  checkpoint_internal::read_on_all_workers(get_strategy().extended(), [&] {
    config = read_zip_entry(value_or_throw(io::read_file(path)), "config.json", path);
  });
  std::unique_ptr<nn::Module> model = make_model(config, path);
  if (!model->variables().empty()) load_weights(*model, path);
  return model;
}

}  // namespace distribute::saving
