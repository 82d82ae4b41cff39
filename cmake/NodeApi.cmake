# Node-API headers from the npm packages, so that no Node headers have to be downloaded.
if(NOT SPTY_NODE)
  find_program(SPTY_NODE NAMES node nodejs DOC "Node.js, used to find headers and to check the keeper")
endif()

add_library(spty_node_api INTERFACE)
target_compile_definitions(spty_node_api INTERFACE NAPI_VERSION=8 NODE_ADDON_API_DISABLE_CPP_EXCEPTIONS
  NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS
  NODE_GYP_MODULE_NAME=sandboxed_pty BUILDING_NODE_EXTENSION)

if(SPTY_BUILD_ADDON)
  # SYSTEM: warnings in other people's headers are not ours to fix.
  if(CMAKE_JS_INC)
    target_include_directories(spty_node_api SYSTEM INTERFACE ${CMAKE_JS_INC})
  elseif(SPTY_NODE)
    foreach(package IN ITEMS node-api-headers node-addon-api)
      execute_process(
        COMMAND "${SPTY_NODE}" "${PROJECT_SOURCE_DIR}/scripts/header-dir.mjs" ${package}
        OUTPUT_VARIABLE dir OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
      target_include_directories(spty_node_api SYSTEM INTERFACE "${dir}")
    endforeach()
  else()
    message(FATAL_ERROR "Node.js was not found in PATH. Install it, or pass -DSPTY_NODE=<path of node>.")
  endif()
endif()
