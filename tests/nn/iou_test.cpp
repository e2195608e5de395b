#include <distribute/base/error.hpp>
#include <distribute/nn/confusion_metrics.hpp>

#include "metric_support.hpp"

using namespace distribute;
using namespace distribute_test;
namespace metrics = nn::metrics;

TEST_CASE("intersection over union follows Keras", "[nn][iou]") {
  const Tensor y({6}, std::vector<int64_t>{0, 1, 2, 2, 1, 0});
  const Tensor p({6}, std::vector<int64_t>{0, 2, 2, 1, 1, 0});
  const Tensor weights{1.0f, 2.0f, 1.0f, 1.0f, 3.0f, 1.0f};
  check_metric(metrics::IoU({.num_classes = 3, .target_class_ids = {0, 2}}), y, p, weights,
               {0.666666687}, {0.625}, {0.600000024});
  check_metric(metrics::MeanIoU({.num_classes = 4}), y, p, weights, {0.555555582}, {0.583333313},
               {0.54285717});
  check_metric(metrics::MeanIoU({.num_classes = 3, .ignore_class = 1}), y, p, weights, {0.5}, {0.5},
               {0.5});
}

TEST_CASE("intersection over union of probabilities follows Keras", "[nn][iou]") {
  const Tensor weights{1.0f, 2.0f, 1.0f, 1.0f, 1.0f, 3.0f, 1.0f, 2.0f};
  check_metric(metrics::BinaryIoU({.threshold = 0.4}), kBits, kGuesses, weights, {0.583333373},
               {0.598214269}, {0.645833373});
  check_metric(metrics::MeanIoU({.num_classes = 3, .sparse_y_true = false, .sparse_y_pred = false}),
               kOneHot, kProbabilities, (Tensor{1.0f, 2.0f, 1.0f}), {0.49999997}, {0.555555522},
               {0.583333313});
}

TEST_CASE("intersection over union of classes that are none is an error", "[nn][iou]") {
  using metrics::IoU;
  CHECK_THROWS_AS(IoU({.num_classes = 3, .target_class_ids = {3}}), InvalidArgumentError);
  CHECK_THROWS_AS(IoU({.num_classes = 0, .target_class_ids = {0}}), InvalidArgumentError);
}
