#include <distribute/nn/mean_metrics.hpp>

#include "metric_support.hpp"

using namespace distribute;
using namespace distribute_test;
namespace metrics = nn::metrics;

TEST_CASE("means of errors follow Keras", "[nn][regression_metrics]") {
  check_metric(metrics::MeanSquaredError(), kNumbers, kLogits, kWeights, {4.08027792}, {3.23619032},
               {3.02378774});
  check_metric(metrics::MeanAbsoluteError(), kNumbers, kLogits, kWeights, {1.61666679},
               {1.35714281}, {1.32727277});
  check_metric(metrics::MeanAbsolutePercentageError(), kNumbers, kLogits, kWeights, {11111389},
               {19047916}, {18182092});
  check_metric(metrics::MeanSquaredLogarithmicError(), kNumbers, kLogits, kWeights, {0.488216311},
               {0.271286011}, {0.244473219});
  check_metric(metrics::LogCoshError(), kNumbers, kLogits, kWeights, {1.08704603}, {0.895016015},
               {0.859943151});
  check_metric(metrics::RootMeanSquaredError(), kNumbers, kLogits, kWeights, {2.0199697},
               {1.79894149}, {1.73890412});
  check_metric(metrics::CosineSimilarity(), kNumbers, kLogits, kWeights, {0.528715849},
               {0.534857213}, {0.54890424});
}
