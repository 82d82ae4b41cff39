# Compiler and linker flags as interface targets. binding.gyp repeats them: change both.
include(CheckCXXCompilerFlag)
include(CheckCXXSourceCompiles)

set(spty_release "$<NOT:$<CONFIG:Debug>>")

# ---- everything ---------------------------------------------------------------------------------------------------
add_library(spty_flags INTERFACE)
target_compile_options(spty_flags INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -fvisibility=hidden -fvisibility-inlines-hidden
  -fstack-protector-strong -ffunction-sections -fdata-sections)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12
   AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(spty_flags INTERFACE -Wno-restrict)  # wrong about std::string operator+: GCC bug 105651
endif()
if(SPTY_WERROR)
  target_compile_options(spty_flags INTERFACE -Werror)
endif()
check_cxx_compiler_flag(-fcf-protection SPTY_HAS_CF_PROTECTION)
if(SPTY_HAS_CF_PROTECTION)
  target_compile_options(spty_flags INTERFACE -fcf-protection)
endif()

# ---- sanitizers: the keeper never has them, it stays the program that users run ------------------------------------
add_library(spty_sanitizers INTERFACE)
if(SPTY_SANITIZE)
  target_compile_options(spty_sanitizers INTERFACE
    -fsanitize=${SPTY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
  target_link_options(spty_sanitizers INTERFACE -fsanitize=${SPTY_SANITIZE})
else()
  # A sanitizer brings its own checks for the same functions.
  target_compile_options(spty_sanitizers INTERFACE $<${spty_release}:-U_FORTIFY_SOURCE>
    $<${spty_release}:-D_FORTIFY_SOURCE=2>)
endif()

# ---- addon --------------------------------------------------------------------------------------------------------
add_library(spty_addon_flags INTERFACE)
if(APPLE)
  target_link_options(spty_addon_flags INTERFACE -Wl,-undefined,dynamic_lookup -Wl,-dead_strip)
else()
  target_link_options(spty_addon_flags INTERFACE
    "-Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/cmake/exports.map"
    -Wl,--gc-sections -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
  if(NOT SPTY_SANITIZE)
    # Old distributions lack the symbols of a new libstdc++: carry our own.
    target_link_options(spty_addon_flags INTERFACE -static-libstdc++ -static-libgcc $<${spty_release}:-Wl,-s>)
  endif()
endif()

# ---- keeper -------------------------------------------------------------------------------------------------------
# "own": linked with native/libc instead of the system's C library, whose start-up costs more than all the rest
# (docs/decisions/keeper-build.md). "system": any static C library, for architectures that native/libc does not know.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64|aarch64|arm64)$")
  set(spty_default_libc own)
else()
  set(spty_default_libc system)
endif()
set(SPTY_KEEPER_LIBC ${spty_default_libc} CACHE STRING "C library of the keeper: own or system")
set_property(CACHE SPTY_KEEPER_LIBC PROPERTY STRINGS own system)

add_library(spty_keeper_flags INTERFACE)
target_compile_options(spty_keeper_flags INTERFACE -fno-exceptions -fno-rtti -fno-asynchronous-unwind-tables
  -fno-threadsafe-statics $<${spty_release}:-Os>)
if(APPLE)
  target_link_options(spty_keeper_flags INTERFACE -Wl,-dead_strip)
else()
  target_compile_options(spty_keeper_flags INTERFACE -fPIE)
  target_link_options(spty_keeper_flags INTERFACE -static-pie -Wl,--gc-sections -Wl,-z,relro -Wl,-z,now
    -Wl,-z,noexecstack $<${spty_release}:-Wl,-s>)
endif()
if(SPTY_KEEPER_LIBC STREQUAL "own")
  target_compile_options(spty_keeper_flags INTERFACE -U_FORTIFY_SOURCE)
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    # The default place of the guard is the thread control block, which only a libc sets up.
    target_compile_options(spty_keeper_flags INTERFACE -mstack-protector-guard=global)
  endif()
  target_link_options(spty_keeper_flags INTERFACE -nostdlib -nostartfiles)
elseif(NOT APPLE)
  target_compile_options(spty_keeper_flags INTERFACE $<${spty_release}:-U_FORTIFY_SOURCE>
    $<${spty_release}:-D_FORTIFY_SOURCE=2>)
  set(CMAKE_REQUIRED_FLAGS "-static-pie -fPIE")
  check_cxx_source_compiles("#include <new>\nint main() { delete new int; }" SPTY_CAN_LINK_STATIC)
  unset(CMAKE_REQUIRED_FLAGS)
  if(NOT SPTY_CAN_LINK_STATIC)
    message(FATAL_ERROR "${CMAKE_CXX_COMPILER} cannot link a static program, which the keeper must be. Install the "
      "static C and C++ libraries (Debian: libc6-dev and g++; Fedora: glibc-static and libstdc++-static).")
  endif()
endif()
