#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/saving/detail/file_values.hpp>
#include <distribute/saving/detail/weight_rules.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <set>

namespace distribute::saving_internal {

DISTRIBUTE_INLINE std::string behind(const std::string& place, const std::string& name) {
  return place.empty() ? name : place + "." + name;
}

/// Walks the parts of a module, and finds the rules of each weight.
class RuleWalk {
 public:
  explicit RuleWalk(const saving::NameRules& rules) : rules_(rules) {}

  void visit(const nn::Module& module, const std::string& place) {
    around_.push_back({module.class_name(), place, {}});
    for (const auto& [name, variable] : variables_in_files(module))
      weights.push_back({variable, places_of(name)});
    size_t index = 0;
    for (const auto& [edge, object] : module.children()) {
      const std::string part = part_name(module, edge, index++);
      for (Around& outer : around_) outer.way.push_back(part);
      visit(dynamic_cast<const nn::Module&>(*object), behind(place, part));
      for (Around& outer : around_) outer.way.pop_back();
    }
    around_.pop_back();
  }

  std::vector<PlacedWeight> weights;

 private:
  struct Around {  // a module that has the present one inside
    std::string kind, place;
    std::vector<std::string> way;  // from it to the present one
  };

  static std::string part_name(const nn::Module& module, const std::string& edge, size_t index) {
    if (dynamic_cast<const nn::Sequential*>(&module)) return str_cat(index);
    if (module.class_name() != "bidirectional") return edge;
    return index == 0 ? "forward_layer" : "backward_layer";
  }

  std::string renamed(const std::string& key) const {
    return rules_.rename ? rules_.rename(key) : key;
  }

  /// The outermost module that has a rule for the weight decides.
  std::vector<WeightPlace> places_of(const std::string& name) const {
    std::vector<WeightPlace> places;
    for (const Around& outer : around_) {
      std::string weight;
      for (const std::string& part : outer.way) weight += part + "/";
      weight += name;
      for (const saving::WeightRule& rule : rules_.weights) {
        if (rule.weight != weight || (rule.layer != outer.kind && rule.layer != outer.place))
          continue;
        places.push_back({{}, rule});
        for (const std::string& key : rule.names)
          places.back().keys.push_back(renamed(behind(outer.place, key)));
      }
      if (!places.empty()) return places;
    }
    const std::string key = renamed(behind(around_.back().place, name));
    return {{{key}, {around_.back().kind, name, {name}}}};
  }

  const saving::NameRules& rules_;
  std::vector<Around> around_;
};

DISTRIBUTE_INLINE std::vector<PlacedWeight> placed_weights(const nn::Module& module,
                                                           const saving::NameRules& rules) {
  RuleWalk walk(rules);
  walk.visit(module, "");
  return std::move(walk.weights);
}

/// The number of letters that are added, taken away or changed.
DISTRIBUTE_INLINE size_t letters_apart(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

DISTRIBUTE_INLINE std::string nearest_key(const saving::safetensors::Tensors& file,
                                          const std::string& name) {
  std::string nearest;
  size_t least = SIZE_MAX;
  for (const auto& [key, value] : file)
    if (const size_t apart = letters_apart(key, name); apart < least) {
      least = apart;
      nearest = key;
    }
  return nearest;
}

/// Adds all parts of a name that end with a dot: "transformer.", "transformer.h.".
DISTRIBUTE_INLINE void add_fronts(const std::string& name, std::set<std::string>& fronts) {
  for (size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1))
    fronts.insert(name.substr(0, dot + 1));
}

/// A file's tensors, in which all names may have something in front, such as "module.", or lack
/// what the rules have in front, such as "transformer." of the published GPT-2.
class RuleSearch {
 public:
  RuleSearch(const saving::safetensors::Tensors& file, const std::vector<PlacedWeight>& weights)
      : file_(file) {
    size_t most = count_found(weights, {});
    if (most > 0) return;
    std::set<std::string> added, lacking;
    for (const auto& [key, value] : file) add_fronts(key, added);
    for (const PlacedWeight& weight : weights)
      for (const WeightPlace& place : weight.places)
        for (const std::string& key : place.keys) add_fronts(key, lacking);
    const auto try_front = [&](const Front& front) {
      const size_t found = count_found(weights, front);
      if (found <= most) return;
      most = found;
      front_ = front;
    };
    for (const std::string& text : added) try_front({.added = text});
    for (const std::string& text : lacking) try_front({.lacking = text});
  }

  /// Returns the way in which the file has the variable; null if it has none.
  const WeightPlace* place(const PlacedWeight& weight) const {
    for (const WeightPlace& place : weight.places)
      if (has(place, front_)) return &place;
    return nullptr;
  }

  std::vector<std::string> keys(const WeightPlace& place) const {
    std::vector<std::string> all;
    for (const std::string& key : place.keys) all.push_back(in_file(key, front_));
    return all;
  }

  const Tensor& tensor(const std::string& key) const { return file_.at(key); }

 private:
  struct Front {  // what names of the file have before those of the rules, or lack there
    std::string added = {}, lacking = {};
  };

  static std::string in_file(const std::string& key, const Front& front) {
    const bool cut = key.starts_with(front.lacking);
    return front.added + (cut ? key.substr(front.lacking.size()) : key);
  }
  bool has(const WeightPlace& place, const Front& front) const {
    return std::all_of(place.keys.begin(), place.keys.end(),
                       [&](const std::string& key) { return file_.contains(in_file(key, front)); });
  }
  size_t count_found(const std::vector<PlacedWeight>& weights, const Front& front) const {
    return size_t(std::count_if(weights.begin(), weights.end(), [&](const PlacedWeight& weight) {
      return std::any_of(weight.places.begin(), weight.places.end(),
                         [&](const WeightPlace& place) { return has(place, front); });
    }));
  }

  const saving::safetensors::Tensors& file_;
  Front front_;
};

/// The part of a file's tensor that a rule speaks of; an empty tensor if it cannot be cut so.
DISTRIBUTE_INLINE Tensor part_of(const Tensor& x, const saving::WeightRule& rule) {
  if (rule.parts == 1) return x;
  if (x.shape().rank() <= rule.axis || x.shape()[rule.axis] % rule.parts) return {};
  return split(x, rule.parts, rule.axis)[size_t(rule.part)];
}

/// The shape of one of the tensors that are the variable.
DISTRIBUTE_INLINE Shape shape_of_each(const Shape& variable, const saving::WeightRule& rule) {
  if (!rule.stacked || variable.rank() == 0) return variable;
  return Shape(variable.dims().subspan(1));
}

/// The variable's value from the file's tensors; an empty tensor if their shapes do not fit.
DISTRIBUTE_INLINE Tensor value_of(const std::vector<Tensor>& tensors, const Shape& variable,
                                  const saving::WeightRule& rule) {
  const Shape each = shape_of_each(variable, rule);
  std::vector<Tensor> values;
  for (const Tensor& tensor : tensors) {
    const Tensor part = part_of(tensor, rule);
    values.push_back(part ? rule.layout.read(part, each) : Tensor());
    if (!values.back()) return {};
  }
  if (rule.stacked) {
    const Tensor rows = stack(values);
    return rows.shape() == variable ? rows : Tensor();
  }
  return values.size() == 1 ? values[0] : add_n(values);
}

/// The file's tensors for a value, without the parts that other variables make.
DISTRIBUTE_INLINE std::vector<Tensor> tensors_for(const Tensor& value,
                                                  const saving::WeightRule& rule) {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < rule.names.size(); ++i) {
    const Tensor own =
        rule.stacked
            ? value.rows(int64_t(i), int64_t(i) + 1).view(shape_of_each(value.shape(), rule))
            : value;
    tensors.push_back(rule.layout.write(i == 0 || rule.stacked ? own : zeros_like(own)));
  }
  return tensors;
}

/// "[3, 4]", and for several tensors "[3, 4], [4]".
DISTRIBUTE_INLINE std::string shapes_of(const std::vector<Tensor>& tensors, int parts, int axis) {
  std::string text;
  for (const Tensor& tensor : tensors) {
    std::vector<int64_t> sizes(tensor.shape().begin(), tensor.shape().end());
    if (parts > 1) sizes[size_t(axis)] *= parts;
    text += (text.empty() ? "" : ", ") + to_string(Shape(sizes));
  }
  return text;
}

DISTRIBUTE_INLINE std::string joined(const std::vector<std::string>& keys) {
  std::string text;
  for (const std::string& key : keys) text += (text.empty() ? "'" : " and '") + key + "'";
  return text;
}

/// Looks for one variable.
class RuleLoad {
 public:
  RuleLoad(const saving::safetensors::Tensors& file, const RuleSearch& search,
           const saving::LoadWeightsOptions& options, WeightAssignment& weights)
      : file_(file), search_(search), options_(options), weights_(weights) {}

  void take(const PlacedWeight& weight) {
    const Variable& variable = weight.variable;
    const WeightPlace* place = search_.place(weight);
    if (!place) return miss(weight);
    std::vector<Tensor> tensors;
    const std::vector<std::string> keys = search_.keys(*place);
    used.insert(keys.begin(), keys.end());
    for (const std::string& key : keys) tensors.push_back(search_.tensor(key));
    const Tensor value = value_of(tensors, variable.shape(), place->rule);
    const std::string shapes = shapes_of(tensors, 1, 0);
    if (!value) return misfit(weight, *place, shapes);
    FoundWeight found{variable, joined(keys), value.shape(), value.dtype(),
                      [value] { return value; }};
    weights_.take(found);
    tell(variable, str_cat("<- ", found.key, " ", shapes, " ", name_of(value.dtype())));
  }

  std::set<std::string> used;

 private:
  void tell(const Variable& variable, const std::string& text) const {
    if (options_.dry_run)
      std::printf("%s %s %s\n", train::saved_name(variable).c_str(),
                  to_string(variable.shape()).c_str(), text.c_str());
  }
  void miss(const PlacedWeight& weight) {
    const std::string wanted = joined(search_.keys(weight.places[0]));
    const std::string nearest = nearest_key(file_, search_.keys(weight.places[0])[0]);
    const std::string reason = nearest.empty() ? "the file has no tensors"
                                               : str_cat("the nearest is '", nearest, "' ",
                                                         to_string(file_.at(nearest).shape()));
    tell(weight.variable, str_cat("<- nothing: there is no ", wanted, "; ", reason));
    weights_.miss(weight.variable,
                  str_cat("there is no ", wanted, ", which variable '",
                          train::saved_name(weight.variable), "' wants; ", reason));
  }
  void misfit(const PlacedWeight& weight, const WeightPlace& place, const std::string& shapes) {
    const auto wanted = tensors_for(zeros(weight.variable.shape()), place.rule);
    const std::string reason =
        str_cat(joined(search_.keys(place)), " is ", shapes, ", variable '",
                train::saved_name(weight.variable), "' of ", to_string(weight.variable.shape()),
                " wants ", shapes_of(wanted, place.rule.parts, place.rule.axis));
    tell(weight.variable, "<- nothing: " + reason);
    weights_.refuse({weight.variable}, reason);
  }

  const saving::safetensors::Tensors& file_;
  const RuleSearch& search_;
  const saving::LoadWeightsOptions& options_;
  WeightAssignment& weights_;
};

DISTRIBUTE_INLINE void find_by_rules(const saving::safetensors::Tensors& file,
                                     const nn::Module& module, const std::string& path,
                                     const saving::LoadWeightsOptions& given,
                                     WeightAssignment& weights) {
  const auto all = placed_weights(module, *given.names);
  const RuleSearch search(file, all);
  RuleLoad load(file, search, given, weights);
  if (given.dry_run) std::printf("%s:\n", path.c_str());
  for (const PlacedWeight& weight : all) load.take(weight);
  for (const auto& [key, value] : file) {
    const bool ignored =
        std::any_of(given.names->ignored.begin(), given.names->ignored.end(),
                    [&key = key](const std::string& end) { return key.ends_with(end); });
    if (ignored || load.used.contains(key)) continue;
    weights.result().unused.push_back(key);
    if (given.dry_run)
      std::printf("nothing <- '%s' %s\n", key.c_str(), to_string(value.shape()).c_str());
  }
}

DISTRIBUTE_INLINE saving::safetensors::Tensors weights_by_rules(const nn::Module& module,
                                                                const saving::NameRules& rules) {
  std::map<std::string, std::map<int, Tensor>> pieces;
  std::map<std::string, const WeightPlace*> places;
  const auto all = placed_weights(module, rules);
  const FileValues value(module);
  for (const PlacedWeight& weight : all) {
    const WeightPlace& place = weight.places[0];
    const auto tensors = tensors_for(value(weight.variable), place.rule);
    for (size_t i = 0; i < tensors.size(); ++i) {
      places[place.keys[i]] = &place;
      if (!pieces[place.keys[i]].emplace(place.rule.part, tensors[i]).second)
        throw InvalidArgumentError(str_cat("save_weights: two variables would be called '",
                                           place.keys[i],
                                           "'; give one of the layers another name"));
    }
  }
  saving::safetensors::Tensors tensors;
  for (const auto& [key, parts] : pieces) {
    std::vector<Tensor> list;
    for (const auto& [number, part] : parts) list.push_back(part);
    const saving::WeightRule& rule = places[key]->rule;
    if (int(list.size()) != rule.parts)
      throw InvalidArgumentError(str_cat("save_weights: '", key, "' has ", rule.parts,
                                         " parts, the module has ", list.size(), " of them"));
    tensors[key] = list.size() == 1 ? list[0] : concat(list, rule.axis);
  }
  return tensors;
}

}  // namespace distribute::saving_internal
