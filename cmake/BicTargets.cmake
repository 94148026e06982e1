# The few functions with which every folder states its targets.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(BIC_CCACHE ccache)
if(BIC_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${BIC_CCACHE}")
endif()

find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(fmt REQUIRED)

# Flags of every target. No contraction: a fused multiply-add is written where it is meant.
add_library(bic_compile_options INTERFACE)
add_library(bic::compile_options ALIAS bic_compile_options)
target_compile_options(bic_compile_options INTERFACE
  $<BUILD_INTERFACE:-Wall> $<BUILD_INTERFACE:-Wextra> -ffp-contract=off
  $<BUILD_INTERFACE:-Wno-missing-field-initializers>
  # What is built names its source by the path in the project, wherever that lay.
  "$<BUILD_INTERFACE:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>")
# False alarms of gcc 12, in its own std::string.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(bic_compile_options INTERFACE $<BUILD_INTERFACE:-Wno-restrict>)
endif()
target_include_directories(bic_compile_options INTERFACE
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>" "$<INSTALL_INTERFACE:include/bi_conform>")
target_compile_features(bic_compile_options INTERFACE $<INSTALL_INTERFACE:cxx_std_20>)
if(BIC_WERROR)
  target_compile_options(bic_compile_options INTERFACE $<BUILD_INTERFACE:-Werror>)
endif()
if(BIC_SANITIZE)
  target_compile_options(bic_compile_options INTERFACE "-fsanitize=${BIC_SANITIZE}"
                                                       -fno-sanitize-recover=undefined
                                                       -fno-omit-frame-pointer)
  target_link_options(bic_compile_options INTERFACE "-fsanitize=${BIC_SANITIZE}")
endif()

# bic_add_library(<name> SOURCES <file>... [LINK <target>...])
#
# A static library bic_<name> with the alias bic::<name>.
function(bic_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "bic_add_library(${name}): needs SOURCES; got '${ARGN}'")
  endif()
  add_library(bic_${name} STATIC ${arg_SOURCES})
  add_library(bic::${name} ALIAS bic_${name})
  target_link_libraries(bic_${name} PUBLIC bic::compile_options ${arg_LINK})
endfunction()

# fmt, compiled once where it is that of Debian 12 and Ubuntu 24.04; newer ones have other insides.
if(fmt_VERSION VERSION_LESS 10)
  bic_add_library(fmt SOURCES "${PROJECT_SOURCE_DIR}/cmake/fmt_library.cpp")
  target_include_directories(bic_fmt SYSTEM PUBLIC
    $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
else()
  add_library(bic_fmt INTERFACE)
  add_library(bic::fmt ALIAS bic_fmt)
  target_link_libraries(bic_fmt INTERFACE fmt::fmt-header-only)
endif()

if(BIC_TESTS)
  enable_testing()
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()

# bic_discover_suites(<name> <tier>): CTest knows each test suite of the program as <name>.<suite>.
#
# gtest_discover_tests gives each test a process: with LibTorch in it that is half a second.
function(bic_discover_suites name tier)
  set(script "${PROJECT_SOURCE_DIR}/cmake/BicSuites.cmake")
  set(suites "${CMAKE_CURRENT_BINARY_DIR}/${name}_suites.cmake")
  set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS "${script}")
  add_custom_command(TARGET ${name} POST_BUILD VERBATIM
    COMMAND "${CMAKE_COMMAND}" -DNAME=${name} "-DPROGRAM=$<TARGET_FILE:${name}>" -DTIER=${tier}
            "-DFILE=${suites}" -P "${script}")
  file(CONFIGURE OUTPUT ${name}_include.cmake @ONLY CONTENT
"if(EXISTS [=[@suites@]=])
  include([=[@suites@]=])
else()
  add_test(@name@_NOT_BUILT @name@_NOT_BUILT)
endif()
")
  set_property(DIRECTORY APPEND PROPERTY
               TEST_INCLUDE_FILES "${CMAKE_CURRENT_BINARY_DIR}/${name}_include.cmake")
endfunction()

# bic_add_test(<name> SOURCES <file>... [LINK <target>...] TIER <cpu|torch|gpu|slow> [EACH])
#
# One GoogleTest executable, each of whose suites is known to CTest under the label TIER. EACH: each
# of whose tests is, as for TIER gpu, because they take long or may be skipped.
function(bic_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "EACH" "TIER" "SOURCES;LINK")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES OR NOT arg_TIER)
    message(FATAL_ERROR "bic_add_test(${name}): needs SOURCES and TIER; got '${ARGN}'")
  endif()
  if(NOT BIC_TESTS)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE bic::compile_options ${arg_LINK} GTest::gmock
                                        GTest::gtest_main)
  # What is tested is in the libraries; the tests themselves compile a third faster so.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  if(arg_EACH OR arg_TIER STREQUAL "gpu")
    gtest_discover_tests(${name} PROPERTIES LABELS "${arg_TIER}" DISCOVERY_TIMEOUT 60)
  else()
    bic_discover_suites(${name} ${arg_TIER})
  endif()
endfunction()

# bic_add_bench(<name> SOURCES <file>... [LINK <target>...])
#
# One Google Benchmark executable; built with BIC_BENCH, never run by CTest.
function(bic_add_bench name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "bic_add_bench(${name}): needs SOURCES; got '${ARGN}'")
  endif()
  if(NOT BIC_BENCH)
    return()
  endif()
  find_package(benchmark REQUIRED)
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE bic::compile_options ${arg_LINK}
                                        benchmark::benchmark_main)
endfunction()
