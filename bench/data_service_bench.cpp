// Elements of 100 KB from a data service over loopback, beside the same pipeline here: CPU time of
// an element, of reader, worker and dispatcher together.
// cmake --build --preset release --target data_service_bench &&
// build/release/bin/data_service_bench [elements]

#include <distribute/data_service.hpp>

#include <cstdio>
#include <cstdlib>

#include "cpu_seconds.hpp"

namespace {

using namespace distribute;

data::Dataset elements(int64_t count) {
  const Tensor part = zeros({100 * 1024}, DType::UInt8);
  return data::Dataset::range(count).map(
      [part](const data::Batch&) { return data::Batch{.x = part}; },
      {.output_spec = data::ElementSpec{{.shape = {100 * 1024}, .dtype = DType::UInt8}}});
}

double microseconds_of(const data::Dataset& dataset, int64_t count) {
  const double began = cpu_seconds();
  int64_t seen = 0;
  for (const data::Batch& element : dataset) seen += element.x.shape()[0] > 0;
  if (seen != count) std::abort();
  return 1e6 * (cpu_seconds() - began) / double(count);
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t count = argc > 1 ? std::atol(argv[1]) : 20'000;
  data::service::register_dataset("elements", [count] { return elements(count); });
  const data::service::DispatchServer dispatcher;
  const data::service::WorkerServer worker({.dispatcher_address = dispatcher.target()});
  const double here = microseconds_of(elements(count), count);
  const double service = microseconds_of(
      data::service::from_dataset_id({.service = dispatcher.target(), .dataset_id = "elements"}),
      count);
  std::printf("%lld elements of 100 KB: %.1f us of CPU here, %.1f us from the service\n",
              static_cast<long long>(count), here, service);
}
