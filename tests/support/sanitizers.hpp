/// The sanitizer that tests are compiled with: GCC tells it by a macro, Clang by a feature.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool with_address_sanitizer = true;
#elif defined(__has_feature)
inline constexpr bool with_address_sanitizer = __has_feature(address_sanitizer);
#else
inline constexpr bool with_address_sanitizer = false;
#endif

#if defined(__SANITIZE_THREAD__)
inline constexpr bool with_thread_sanitizer = true;
#elif defined(__has_feature)
inline constexpr bool with_thread_sanitizer = __has_feature(thread_sanitizer);
#else
inline constexpr bool with_thread_sanitizer = false;
#endif
