#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/ops/detail/ctc_inputs.hpp>
#include <distribute/ops/sequence.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

namespace distribute {

namespace ops_internal {

struct CtcPath {
  std::vector<int32_t> labels;
  float score;
};

DISTRIBUTE_INLINE CtcPath greedy_path(const CtcScores& scores, int64_t example,
                                      bool merge_repeated) {
  CtcPath path{{}, 0};
  int64_t before = -1;
  for (int64_t t = 0; t < scores.lengths[size_t(example)]; ++t) {
    const auto row = scores.step(example, t);
    const auto best = std::max_element(row.begin(), row.end());
    path.score -= *best;
    const int64_t label = best - row.begin();
    if (label != scores.blank && !(merge_repeated && label == before))
      path.labels.push_back(int32_t(label));
    before = label;
  }
  return path;
}

/// The beginnings of label sequences that are the likeliest after each step.
/// Source  tensorflow/core/util/ctc/ctc_beam_search.h
class CtcBeam {
 public:
  CtcBeam(int64_t width, int64_t blank) : width_(size_t(width)), blank_(blank) {
    root_.now = {0, kLogZero, 0};
    leaves_.insert(&root_);
  }

  void step(const std::vector<double>& logs) {
    const std::vector<Entry*> branches(leaves_.begin(), leaves_.end());
    leaves_.clear();
    for (Entry* entry : branches) entry->before = entry->now;
    for (Entry* entry : branches) keep(*entry, logs);
    for (Entry* entry : branches)
      if (worth(entry->before.total)) grow(*entry, logs);
  }

  /// Returns the likeliest sequences, at most `count`.
  std::vector<CtcPath> best(size_t count) const {
    std::vector<CtcPath> paths;
    for (const Entry* entry : leaves_) {
      if (paths.size() == count) break;
      paths.push_back({{}, float(entry->now.total)});
      for (const Entry* at = entry; at->parent; at = at->parent)
        paths.back().labels.insert(paths.back().labels.begin(), int32_t(at->label));
    }
    return paths;
  }

 private:
  struct Logs {  // of paths that end with the blank, with the label, and both
    double blank = kLogZero, label = kLogZero, total = kLogZero;
  };
  struct Entry {
    Entry* parent = nullptr;
    int64_t label = -1;
    uint64_t number = 0;
    Logs before = {}, now = {};
    std::map<int64_t, std::unique_ptr<Entry>> children = {};
    bool active() const { return now.total != kLogZero; }
  };
  struct Likelier {
    bool operator()(const Entry* a, const Entry* b) const {
      return a->now.total != b->now.total ? a->now.total > b->now.total : a->number < b->number;
    }
  };

  bool worth(double total) const {
    return total > kLogZero && (leaves_.size() < width_ || total > (*leaves_.rbegin())->now.total);
  }
  /// What a path of `entry` may have ended with to go on by `label`: equal labels need a blank.
  static double ready(const Entry& entry, int64_t label) {
    return entry.label == label ? entry.before.blank : entry.before.total;
  }
  /// Another step with the same labels.
  void keep(Entry& entry, const std::vector<double>& logs) {
    if (entry.parent) {
      if (entry.parent->active())
        entry.now.label = log_add(entry.now.label, ready(*entry.parent, entry.label));
      entry.now.label += logs[size_t(entry.label)];
    }
    entry.now.blank = entry.before.total + logs[size_t(blank_)];
    entry.now.total = log_add(entry.now.blank, entry.now.label);
    leaves_.insert(&entry);
  }
  /// A step with one label more.
  void grow(Entry& entry, const std::vector<double>& logs) {
    for (int64_t label = 0; label < int64_t(logs.size()); ++label) {
      if (label == blank_) continue;
      const auto known = entry.children.find(label);
      if (known != entry.children.end() && known->second->active()) continue;
      const double score = logs[size_t(label)] + ready(entry, label);
      if (!worth(score)) continue;
      auto& child = entry.children[label];
      if (!child) child = std::make_unique<Entry>(Entry{&entry, label, ++entries_});
      drop_least_if_full();
      child->now = {kLogZero, score, score};
      leaves_.insert(child.get());
    }
  }
  void drop_least_if_full() {
    if (leaves_.size() < width_) return;
    Entry* least = *leaves_.rbegin();
    leaves_.erase(least);
    least->now = {};
  }

  size_t width_;
  int64_t blank_;
  uint64_t entries_ = 0;
  Entry root_;
  std::set<Entry*, Likelier> leaves_;
};

DISTRIBUTE_INLINE std::vector<CtcPath> beam_paths(const CtcScores& scores, int64_t example,
                                                  const nn::CtcDecodeOptions& options) {
  CtcBeam beam(options.beam_width, scores.blank);
  std::vector<double> logs;
  for (int64_t t = 0; t < scores.lengths[size_t(example)]; ++t) {
    log_probabilities(scores.step(example, t), logs);
    beam.step(logs);
  }
  std::vector<CtcPath> paths = beam.best(size_t(options.top_paths));
  if (int64_t(paths.size()) < options.top_paths)
    throw InvalidArgumentError(str_cat("ctc_decode: example ", example, " has ", paths.size(),
                                       " sequences of labels, fewer than the ", options.top_paths,
                                       " of top_paths"));
  return paths;
}

DISTRIBUTE_INLINE void check_decode_options(const nn::CtcDecodeOptions& options) {
  const bool greedy = options.strategy == nn::CtcStrategy::Greedy;
  if (greedy && options.top_paths != 1)
    throw InvalidArgumentError(str_cat("ctc_decode: Greedy finds one path, not ", options.top_paths,
                                       "; BeamSearch finds more"));
  if (!greedy && !options.merge_repeated)
    throw InvalidArgumentError(
        "ctc_decode: BeamSearch always merges classes that repeat; merge_repeated = false is an "
        "option of Greedy");
  if (!greedy && (options.top_paths < 1 || options.top_paths > options.beam_width))
    throw InvalidArgumentError(str_cat("ctc_decode: top_paths is ", options.top_paths,
                                       ", outside of [1, ", options.beam_width,
                                       "], the beam_width"));
}

}  // namespace ops_internal

DISTRIBUTE_INLINE nn::CtcDecoded nn::ctc_decode(const Tensor& inputs,
                                                const Tensor& sequence_lengths,
                                                const CtcDecodeOptions& options) {
  using namespace ops_internal;
  check_decode_options(options);
  const CtcScores scores =
      ctc_scores("ctc_decode", stop_gradient(inputs), sequence_lengths, options.mask_index);
  const int64_t paths = options.top_paths, batch = scores.batch, steps = scores.steps;
  Tensor decoded = fill({paths, batch, steps}, -1, DType::Int32, Device{});
  Tensor score = Tensor::empty({batch, paths}, DType::Float32, Device{});
  int32_t* labels = decoded.mutable_data<int32_t>();
  float* points = score.mutable_data<float>();
  parallel_for(batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto found = options.strategy == CtcStrategy::Greedy
                             ? std::vector{greedy_path(scores, i, options.merge_repeated)}
                             : beam_paths(scores, i, options);
      for (size_t p = 0; p < found.size(); ++p) {
        std::copy(found[p].labels.begin(), found[p].labels.end(),
                  labels + (int64_t(p) * batch + i) * steps);
        points[i * paths + int64_t(p)] = found[p].score;
      }
    }
  });
  return {decoded.to(inputs.device()), score.to(inputs.device())};
}

}  // namespace distribute
