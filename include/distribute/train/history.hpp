#pragma once
/// The figures of all epochs.

#include <distribute/base/config.hpp>
#include <distribute/cluster/elastic_end.hpp>
#include <distribute/train/callback.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace distribute::train {

/// What Model::fit gives back. `history.at("val_loss")[i]` is of epoch `epoch[i]`; figures that
/// some epochs do not have, as with validation_freq, have fewer numbers.
/// Source  tf.keras.callbacks.History
class History : public Callback {
 public:
  std::vector<int64_t> epoch;
  std::map<std::string, std::vector<double>> history;

  /// Of an elastic job: whether training has ended, or only this worker's part in it. A program
  /// that Left returns 143, so that it is started again elsewhere.
  ElasticEnd end = ElasticEnd::Finished;

  void on_train_begin(Logs&) override { epoch.clear(), history.clear(); }
  /// An epoch whose end was interrupted comes again.
  void on_epoch_end(int64_t number, Logs& logs) override {
    const bool again = !epoch.empty() && epoch.back() == number;
    if (!again) epoch.push_back(number);
    for (const auto& [name, value] : logs) {
      std::vector<double>& values = history[name];
      if (again && !values.empty()) values.pop_back();
      values.push_back(value);
    }
  }
  bool wants_batch_metrics() const override { return false; }
};

}  // namespace distribute::train
