# Finds the compiler packages and sets up the build tools that are present.

macro(raytention_find_mlir)
  list(APPEND CMAKE_PREFIX_PATH /usr/lib/llvm-22)
  find_package(MLIR CONFIG QUIET)
  if(NOT MLIR_FOUND OR NOT LLVM_VERSION_MAJOR EQUAL 22)
    message(FATAL_ERROR
      "MLIR 22 was not found. Expected the packages libmlir-22-dev, mlir-22-tools, "
      "llvm-22-dev and llvm-22-tools; run tools/setup.sh, or set MLIR_DIR to the "
      "folder that holds MLIRConfig.cmake.")
  endif()
  message(STATUS "MLIR ${LLVM_PACKAGE_VERSION} in ${MLIR_DIR}")
  list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
  include(TableGen)
  include(AddLLVM)
  include(AddMLIR)
endmacro()

macro(raytention_use_fast_tools)
  find_program(RAYTENTION_CCACHE ccache)
  if(RAYTENTION_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # Precompiled headers need the sloppiness: their macros count by content.
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros "${RAYTENTION_CCACHE}")
  endif()
  find_program(RAYTENTION_LLD NAMES ld.lld)
  if(RAYTENTION_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
endmacro()

# Headers that many files include, compiled once: parsing them takes most of the
# time of compiling such a file. A target takes them by REUSE_FROM ${name}; its
# macros and its target options must be those of ${name}, not its optimisation.
function(raytention_precompiled name)
  file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/pch/Empty.cpp"
    CONTENT "// The precompiled headers need a file to belong to.\n")
  add_library(${name} STATIC "${CMAKE_BINARY_DIR}/pch/Empty.cpp")
  target_precompile_headers(${name} PRIVATE ${ARGN})
endfunction()

# Sets RAYTENTION_BASE_HEADERS for targets that need a set of their own.
function(raytention_precompile_headers)
  # For what works without MLIR.
  set(headers
    <algorithm> <array> <atomic> <cmath> <cstring> <functional> <limits> <map>
    <memory> <mutex> <optional> <string> <vector> <llvm/ADT/ArrayRef.h>
    <llvm/ADT/SmallVector.h> <llvm/ADT/StringExtras.h>
    <llvm/ADT/StringSwitch.h> <llvm/ADT/Twine.h> <llvm/Support/Error.h>
    <llvm/Support/FormatVariadic.h> <llvm/Support/MathExtras.h>
    <llvm/Support/raw_ostream.h>)
  raytention_precompiled(RayTentionBaseHeaders ${headers})
  set(RAYTENTION_BASE_HEADERS ${headers} PARENT_SCOPE)

  set(mlir_headers
    <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/Func/IR/FuncOps.h>
    <mlir/Dialect/MemRef/IR/MemRef.h> <mlir/Dialect/SCF/IR/SCF.h>
    <mlir/Dialect/Tensor/IR/Tensor.h> <mlir/IR/Builders.h>
    <mlir/IR/BuiltinAttributes.h> <mlir/IR/OpDefinition.h>
    <mlir/IR/OpImplementation.h> <mlir/IR/PatternMatch.h>
    <mlir/Interfaces/TilingInterface.h> <mlir/Pass/Pass.h>)
  raytention_precompiled(RayTentionHeaders ${mlir_headers})
  target_compile_options(RayTentionHeaders PRIVATE -O1)
  set(RAYTENTION_MLIR_HEADERS ${mlir_headers} PARENT_SCOPE)
endfunction()

# The same with the dialect and what passes and code generators add to it.
function(raytention_precompile_dialect)
  raytention_precompiled(RayTentionDialectHeaders ${RAYTENTION_MLIR_HEADERS}
    <llvm/ADT/StringExtras.h> <llvm/ADT/TypeSwitch.h>
    <mlir/Dialect/Affine/IR/AffineOps.h> <mlir/Dialect/Arith/Utils/Utils.h>
    <mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h>
    <mlir/Dialect/Linalg/IR/Linalg.h> <mlir/Dialect/Math/IR/Math.h>
    <mlir/Dialect/Vector/IR/VectorOps.h> <mlir/IR/IRMapping.h>
    <mlir/IR/Matchers.h> <mlir/IR/SymbolTable.h> <mlir/IR/TypeUtilities.h>
    <mlir/Pass/PassManager.h> <mlir/Transforms/Passes.h>
    "${PROJECT_SOURCE_DIR}/dialect/RayTention/RayTention.h"
    "${PROJECT_SOURCE_DIR}/dialect/RayTention/Differentiable.h")
  target_compile_options(RayTentionDialectHeaders PRIVATE -O1)
  add_dependencies(RayTentionDialectHeaders RayTentionIncGen)
endfunction()

# A static library on the shared libMLIR and libLLVM.
function(raytention_mlir_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  # Most of the time of compiling an MLIR file goes into optimising templates
  # that then run for microseconds.
  target_compile_options(${name} PRIVATE -O1)
  if(TARGET RayTentionDialectHeaders)
    target_precompile_headers(${name} REUSE_FROM RayTentionDialectHeaders)
  else()
    target_precompile_headers(${name} REUSE_FROM RayTentionHeaders)
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LIBS} MLIR LLVM)
endfunction()
