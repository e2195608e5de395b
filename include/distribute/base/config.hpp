#pragma once
/// The version of the library, where its bodies are compiled, and what a program must not do
/// before.

// An include that is not there ends the compilation at once; behind an #error many more would
// follow.
#if __cplusplus < 202002L
#define DISTRIBUTE_STOP "distribute needs C++20 or later: compile with -std=c++20"
#include DISTRIBUTE_STOP
#endif
// The umbrella headers set such macros aside; see base/detail/macros_aside.inc.
#if defined(slots) || defined(signals) || defined(emit) || defined(None) || defined(Bool) || \
    defined(Status) || defined(Success) || defined(Always)
#define DISTRIBUTE_STOP                                                      \
  "slots, None or Bool is a macro of Qt or X11: include an umbrella header " \
  "(distribute/strategy.hpp)"
#include DISTRIBUTE_STOP
#endif

/// In a program of one file bodies come inline with an umbrella header such as
/// <distribute/strategy.hpp>. A program of several files defines DISTRIBUTE_SEPARATE_COMPILATION in
/// all of them, and one file includes <distribute/impl/src.hpp>.
#ifdef DISTRIBUTE_SEPARATE_COMPILATION
#define DISTRIBUTE_INLINE
#define DISTRIBUTE_FORM separate
#else
#define DISTRIBUTE_INLINE inline
#define DISTRIBUTE_FORM header_only
#endif

#define DISTRIBUTE_VERSION_MAJOR 0
#define DISTRIBUTE_VERSION_MINOR 1
#define DISTRIBUTE_VERSION_PATCH 0

/// Objects of two forms or two versions in one program do not link. Each object defines one symbol,
/// in a COMDAT group that is named after its form and version: of equal groups the linker keeps
/// one, of different ones all, and then the symbol is defined twice.
#if defined(__ELF__) && defined(__GNUC__) && !defined(__clang__)  // Clang's LTO knows no .ifndef
#define DISTRIBUTE_MIXED \
  "distribute_is_header_only_in_one_object_and_not_in_another_or_of_two_versions"
#define DISTRIBUTE_TEXT_OF(x) #x
#define DISTRIBUTE_TEXT(x) DISTRIBUTE_TEXT_OF(x)
#define DISTRIBUTE_RELEASE_TEXT             \
  DISTRIBUTE_TEXT(DISTRIBUTE_VERSION_MAJOR) \
  "_" DISTRIBUTE_TEXT(DISTRIBUTE_VERSION_MINOR) "_" DISTRIBUTE_TEXT(DISTRIBUTE_VERSION_PATCH)
// clang-format off
__asm__(".ifndef " DISTRIBUTE_MIXED "\n"  // link-time optimization assembles several objects as one
        ".pushsection .rodata.distribute_form,\"aG\",%progbits,"
        "distribute_" DISTRIBUTE_TEXT(DISTRIBUTE_FORM) "_" DISTRIBUTE_RELEASE_TEXT ",comdat\n"
        ".globl " DISTRIBUTE_MIXED "\n"
        DISTRIBUTE_MIXED ": .byte 0\n"
        ".popsection\n"
        ".endif\n");
// clang-format on
#undef DISTRIBUTE_RELEASE_TEXT
#undef DISTRIBUTE_TEXT
#undef DISTRIBUTE_TEXT_OF
#undef DISTRIBUTE_MIXED
#endif
#undef DISTRIBUTE_FORM

namespace distribute {

#define DISTRIBUTE_TEXT_OF(x) #x
#define DISTRIBUTE_TEXT(x) DISTRIBUTE_TEXT_OF(x)
/// Such as "0.1.0".
/// Source  tf.version.VERSION
inline constexpr const char* kVersion =
    DISTRIBUTE_TEXT(DISTRIBUTE_VERSION_MAJOR) "." DISTRIBUTE_TEXT(
        DISTRIBUTE_VERSION_MINOR) "." DISTRIBUTE_TEXT(DISTRIBUTE_VERSION_PATCH);
#undef DISTRIBUTE_TEXT
#undef DISTRIBUTE_TEXT_OF

}  // namespace distribute
