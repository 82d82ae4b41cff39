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
add_library(spty_keeper_flags INTERFACE)
target_compile_options(spty_keeper_flags INTERFACE -fno-exceptions -fno-rtti -fno-asynchronous-unwind-tables
  -fno-threadsafe-statics $<${spty_release}:-Os>)
if(APPLE)
  target_link_options(spty_keeper_flags INTERFACE -Wl,-dead_strip)
elseif(SPTY_BUILD_KEEPER)
  # Which C library, and why: docs/decisions/keeper-build.md. A cross compiler brings its own.
  function(spty_keeper_libc what variable)
    if(CMAKE_CROSSCOMPILING)
      set(ENV{SPTY_KEEPER_LIBC} system)
    endif()
    execute_process(COMMAND "${SPTY_NODE}" "${CMAKE_CURRENT_SOURCE_DIR}/scripts/keeper-libc.mjs"
      "${CMAKE_SYSTEM_PROCESSOR}" "${CMAKE_CXX_COMPILER}" ${what}
      OUTPUT_VARIABLE lines OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    string(REPLACE "\n" ";" lines "${lines}")
    set(${variable} "${lines}" PARENT_SCOPE)
  endfunction()
  spty_keeper_libc(name SPTY_KEEPER_LIBC)
  spty_keeper_libc(compile keeper_compile)
  spty_keeper_libc(start keeper_start)
  spty_keeper_libc(end keeper_end)
  message(STATUS "The keeper's C library: ${SPTY_KEEPER_LIBC}")
  # SHELL: keeps CMake from dropping the second -isystem as a repetition.
  string(REPLACE "-isystem;" "SHELL:-isystem " keeper_compile "${keeper_compile}")
  target_compile_options(spty_keeper_flags INTERFACE -fPIE ${keeper_compile})
  target_link_options(spty_keeper_flags INTERFACE ${keeper_start} -Wl,--gc-sections -Wl,-z,relro -Wl,-z,now
    -Wl,-z,noexecstack $<${spty_release}:-Wl,-s>)
  target_link_libraries(spty_keeper_flags INTERFACE ${keeper_end})
  if(SPTY_KEEPER_LIBC STREQUAL "system")
    set(CMAKE_REQUIRED_FLAGS "-static-pie -fPIE")
    check_cxx_source_compiles("int main() {}" SPTY_CAN_LINK_STATIC)
    unset(CMAKE_REQUIRED_FLAGS)
    if(NOT SPTY_CAN_LINK_STATIC)
      message(FATAL_ERROR "${CMAKE_CXX_COMPILER} cannot link a static program, which the keeper must be. Install musl "
        "(Debian: musl-dev; Fedora: musl-devel musl-libc-static) or a static glibc (Debian: libc6-dev; Fedora: glibc-static).")
    endif()
  endif()
endif()
