# bi_conform::generators (what is fed), bi_conform::oracle (maths in more precision and its bounds),
# bi_conform::judge (the engine) and what they are made of. Headers are included by the project's
# paths: "generators/laws.h".
include(CMakeFindDependencyMacro)
foreach(dependency IN ITEMS Threads nlohmann_json fmt OpenSSL valijson CLI11)
  find_dependency(${dependency})
endforeach()
include("${CMAKE_CURRENT_LIST_DIR}/targets.cmake")
