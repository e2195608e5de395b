#pragma once
/// Fetches remote values inside vectors, tuples, pairs and maps.

#include <distribute/base/config.hpp>
#include <distribute/coordinator/per_worker_values.hpp>
#include <distribute/coordinator/remote_value.hpp>

#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace distribute::coordinator_internal {

/// Returns a value that is not remote unchanged.
template <typename T>
struct Fetch {
  static T of(const T& value) { return value; }
};

template <typename T>
struct Fetch<RemoteValue<T>> {
  static T of(const RemoteValue<T>& value) { return value.fetch(); }
};

/// Fetches one value per worker.
template <typename T>
struct Fetch<PerWorkerValues<T>> {
  static std::vector<T> of(const PerWorkerValues<T>& values) {
    return Fetch<std::vector<RemoteValue<T>>>::of(values.values());
  }
};

template <typename T>
struct Fetch<std::vector<T>> {
  static auto of(const std::vector<T>& values) {
    std::vector<decltype(Fetch<T>::of(values.front()))> fetched;
    for (const T& value : values) fetched.push_back(Fetch<T>::of(value));
    return fetched;
  }
};

template <typename... Ts>
struct Fetch<std::tuple<Ts...>> {
  static auto of(const std::tuple<Ts...>& values) {
    using Fetched = std::tuple<decltype(Fetch<Ts>::of(std::declval<const Ts&>()))...>;
    const auto fetch_all = [](const Ts&... parts) { return Fetched(Fetch<Ts>::of(parts)...); };
    return std::apply(fetch_all, values);
  }
};

template <typename A, typename B>
struct Fetch<std::pair<A, B>> {
  static auto of(const std::pair<A, B>& value) {
    return std::make_pair(Fetch<A>::of(value.first), Fetch<B>::of(value.second));
  }
};

template <typename K, typename V>
struct Fetch<std::map<K, V>> {
  static auto of(const std::map<K, V>& values) {
    std::map<K, decltype(Fetch<V>::of(std::declval<const V&>()))> fetched;
    for (const auto& [key, value] : values) fetched.emplace(key, Fetch<V>::of(value));
    return fetched;
  }
};

}  // namespace distribute::coordinator_internal
