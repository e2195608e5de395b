/// Batch renormalization, as renormed() of layer_cases.py prints it.
#include "layer_cases.hpp"

#include <distribute/nn/normalization.hpp>

namespace comparison {

void renorm_cases() {
  using Options = nn::BatchNormalizationOptions;
  const auto made = [](Options options) {
    options.renorm = true;
    return [options] { return nn::BatchNormalization(options); };
  };
  const nn::RenormClipping clipped{.rmax = 1.5, .rmin = 0.5, .dmax = 0.2};
  const std::vector<std::pair<std::string, Options>> all{
      {"plain", {}},
      {"clipped", {.renorm_clipping = clipped}},
      {"rmax alone", {.renorm_clipping = {.rmax = 1}}},
      {"no scale", {.scale = false}},
      {"no center", {.center = false}},
      {"axis 1", {.axis = 1}},
      {"momentum", {.momentum = 0.3, .renorm_momentum = 0.6}}};
  for (const auto& [name, options] : all)
    for (const auto& [training, calls] : {std::pair(false, 1), {true, 1}, {true, 3}})
      check(str_cat("renorm ", name, ", training ", text(training), ", ", calls, " calls"),
            made(options), {steps()}, {.training = training, .calls = calls});
  check("renorm frozen", made({}), {steps()}, {.training = true, .frozen = true});
  check("renorm masked", made({.renorm_clipping = clipped}), {steps()},
        {.masks = {gaps()}, .training = true, .calls = 2});
  check("renorm of pictures", made({}), {image()}, {.training = true, .calls = 2});
  check("renorm of rows", made({}), {{4, 3}}, {.training = true, .calls = 2});
  check("renorm rmax below rmin", made({.renorm_clipping = {.rmax = 0.5, .rmin = 1}}), {steps()});
  check("renorm dmax negative", made({.renorm_clipping = {.dmax = -1}}), {steps()});
}

}  // namespace comparison
