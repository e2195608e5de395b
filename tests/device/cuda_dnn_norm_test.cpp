// Graphs that only engines compiled at run time serve: batch normalization. Such a plan cannot be
// finished without a driver, so the test asks which engines cuDNN proposes for an H200.
// They ask for libcuda themselves: the toolkit's stub of it is loaded first.
#include <distribute/device/detail/cuda_dnn_operations.hpp>

#include "../support/catch.hpp"
#include "../support/cuda_dnn.hpp"

#include <fstream>
#include <iterator>
#include <string>

#include <dlfcn.h>

using namespace distribute;

TEST_CASE("batch normalization needs cuDNN", "[device][cuda_dnn_norm]") {
  if (cudnn_problem().empty()) return;
  CHECK_THROWS_AS(cudnn_batch_norm({}, {}, {}, {}, 1e-3f, nullptr), UnavailableError);
  CHECK_THROWS_AS(cudnn_batch_norm_backward({}, {}, {}, {}, {}), UnavailableError);
}

#if DISTRIBUTE_HAS_CUDNN && defined(DISTRIBUTE_CUDA_TOOLKIT_LIBRARIES)

namespace {

using namespace distribute::cudnn_internal;

const DType kTypes[] = {DType::Float32, DType::BFloat16, DType::Float16};

/// True, with a warning, where the test cannot run.
bool missing() {
  if (!cudnn_problem().empty()) {
    WARN("skipped: " << cudnn_problem());
    return true;
  }
  const char* const stub = DISTRIBUTE_CUDA_TOOLKIT_LIBRARIES "/stubs/libcuda.so";
  if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL) || dlopen(stub, RTLD_NOW | RTLD_GLOBAL))
    return false;
  WARN("skipped: neither libcuda.so.1 nor " << stub << " can be loaded");
  return true;
}

size_t engines(CudnnGraph graph) {
  std::ifstream file(std::string(DISTRIBUTE_SOURCE_DIR) + "/tests/data/gpu/h200_deviceprop.json");
  const auto target = CudnnTarget::of_properties({std::istreambuf_iterator<char>(file), {}});
  const CudnnDescriptor finished = graph.finish();
  return propose_engines(target, finished).size();
}

}  // namespace

TEST_CASE("batch normalization with what follows it has engines", "[device][cuda_dnn_norm]") {
  if (missing()) return;
  for (DType dtype : kTypes)
    for (const auto& [relu, residual] : {std::pair{false, false}, {true, false}, {true, true}}) {
      const NormShape shape{dtype, 256, 64, 56, 56, relu, residual};
      CHECK(engines(batch_norm_forward(shape)) > 0);
      CHECK(engines(batch_norm_backward(shape)) > 0);
    }
}

#endif
