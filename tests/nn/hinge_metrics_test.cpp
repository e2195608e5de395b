#include <distribute/nn/mean_metrics.hpp>

#include "metric_support.hpp"

using namespace distribute;
using namespace distribute_test;
namespace metrics = nn::metrics;

TEST_CASE("means of hinge losses follow Keras", "[nn][hinge_metrics]") {
  check_metric(metrics::Hinge(), kOneHot, kLogits, kWeights, {1.20000005}, {1.48571432},
               {1.4181819});
  check_metric(metrics::SquaredHinge(), kOneHot, kLogits, kWeights, {2.87777781}, {4.0047617},
               {3.81515145});
  check_metric(metrics::CategoricalHinge(), kOneHot, kLogits, kWeights, {1.39999998}, {2.39999986},
               {2.29090905});
}
