#include <distribute/nn/mean_metrics.hpp>

#include "metric_support.hpp"

using namespace distribute;
using namespace distribute_test;
namespace metrics = distribute::nn::metrics;

TEST_CASE("means of errors follow Keras", "[nn][regression_metrics]") {
  {
    metrics::MeanSquaredError metric;
    check_metric(metric, kNumbers, kLogits, kWeights, {4.08027792}, {3.23619032}, {3.02378774});
  }
  {
    metrics::MeanAbsoluteError metric;
    check_metric(metric, kNumbers, kLogits, kWeights, {1.61666679}, {1.35714281}, {1.32727277});
  }
  {
    metrics::MeanAbsolutePercentageError metric;
    check_metric(metric, kNumbers, kLogits, kWeights, {11111389}, {19047916}, {18182092});
  }
  {
    metrics::MeanSquaredLogarithmicError metric;
    check_metric(metric, kNumbers, kLogits, kWeights, {0.488216311}, {0.271286011}, {0.244473219});
  }
  {
    metrics::LogCoshError metric;
    check_metric(metric, kNumbers, kLogits, kWeights, {1.08704603}, {0.895016015}, {0.859943151});
  }
  {
    metrics::RootMeanSquaredError metric;
    check_metric(metric, kNumbers, kLogits, kWeights, {2.0199697}, {1.79894149}, {1.73890412});
  }
  {
    metrics::CosineSimilarity metric;
    check_metric(metric, kNumbers, kLogits, kWeights, {0.528715849}, {0.534857213}, {0.54890424});
  }
}
