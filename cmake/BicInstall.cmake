# What `cmake --install` puts where, and the archive that `cpack` makes of it.
#
# Two components: `program`, which runs wherever it is unpacked, and `development`, which is what
# find_package(bi_conform) finds. The program looks for its workers in ../lib, as in a build tree; the
# LibTorch worker for torch in torch/ beside itself, for which the archive has a list of packages.
include(CMakePackageConfigHelpers)

set(bic_docs share/doc/bi-conform)

install(TARGETS bi-conform RUNTIME DESTINATION bin COMPONENT program)
install(TARGETS bic_plugin_worker LIBRARY DESTINATION lib COMPONENT program)
install(FILES "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/bi_conform_worker.pyz" DESTINATION lib
        COMPONENT program)
foreach(name IN ITEMS bic_openblas bic_onednn)
  if(TARGET ${name})
    install(TARGETS ${name} LIBRARY DESTINATION lib/external COMPONENT program)
  endif()
endforeach()
if(TARGET bic_cuda)
  install(TARGETS bic_cuda LIBRARY DESTINATION lib COMPONENT program)
endif()
if(TARGET bic_cuda_graph)
  install(TARGETS bic_cuda_graph LIBRARY DESTINATION lib COMPONENT program)
endif()
if(BIC_LIBTORCH)
  set_target_properties(bic_libtorch_worker bic_models PROPERTIES
    INSTALL_RPATH "$ORIGIN;$ORIGIN/torch/lib")
  install(TARGETS bic_libtorch_worker bic_models LIBRARY DESTINATION lib COMPONENT program)
  install(FILES "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libbic_models.torch" DESTINATION lib
          COMPONENT program)
  install(FILES ci/torch.txt DESTINATION share/bi-conform COMPONENT program)
endif()

# What people read and write beside it.
install(DIRECTORY ci/policies DESTINATION share/bi-conform COMPONENT program)
install(FILES results_schema/report.schema.json results_schema/trace.schema.json
        DESTINATION share/bi-conform/schemas COMPONENT program)
install(FILES adapters/plugin/bi_conform_plugin.h DESTINATION include COMPONENT program)
foreach(kind IN ITEMS plugin python)
  install(DIRECTORY adapters/${kind}/examples/ DESTINATION share/bi-conform/examples/${kind}
          COMPONENT program PATTERN __pycache__ EXCLUDE)
endforeach()
install(DIRECTORY adapters/examples/ DESTINATION share/bi-conform/examples COMPONENT program)
install(PROGRAMS ci/action/annotate.py ci/action/comment.py ci/action/judge
        DESTINATION share/bi-conform/action COMPONENT program)
install(FILES README.md CHANGELOG.md LICENSE cmake/third_party_licences.txt
        DESTINATION ${bic_docs} COMPONENT program)
install(DIRECTORY docs DESTINATION ${bic_docs} COMPONENT program)

# bic_linked(<out> <target>): the project's own libraries that it is linked with, itself among them.
function(bic_linked out target)
  set(all ${target})
  get_target_property(links ${target} INTERFACE_LINK_LIBRARIES)
  foreach(link IN LISTS links)
    if(link MATCHES "^bic::(.*)$")
      bic_linked(more bic_${CMAKE_MATCH_1})
      list(APPEND all ${more})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES all)
  set(${out} ${all} PARENT_SCOPE)
endfunction()

# The libraries that the engine is made of, with their headers under the paths of the project.
bic_linked(bic_exported bic_harness)
foreach(target IN LISTS bic_exported)
  string(REGEX REPLACE "^bic_" "" name ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  install(TARGETS ${target} EXPORT bi_conform ARCHIVE DESTINATION lib COMPONENT development)
endforeach()
set_target_properties(bic_harness PROPERTIES EXPORT_NAME judge)
install(DIRECTORY adapters generators harness reference_kernels results_schema suites
        DESTINATION include/bi_conform COMPONENT development
        FILES_MATCHING PATTERN "*.h" PATTERN "registry.inc"
        PATTERN external EXCLUDE PATTERN libtorch_invariant EXCLUDE PATTERN python EXCLUDE
        PATTERN examples EXCLUDE PATTERN cpu EXCLUDE PATTERN cuda EXCLUDE PATTERN corpus EXCLUDE PATTERN e2e EXCLUDE
        PATTERN fake_worker EXCLUDE PATTERN models EXCLUDE PATTERN shapes EXCLUDE
        PATTERN public EXCLUDE)
install(EXPORT bi_conform NAMESPACE bi_conform:: FILE targets.cmake
        DESTINATION lib/cmake/bi_conform COMPONENT development)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/bi_conform-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES cmake/bi_conform-config.cmake
              "${PROJECT_BINARY_DIR}/bi_conform-config-version.cmake"
        DESTINATION lib/cmake/bi_conform COMPONENT development)

# `cpack` packs what is built, without building the tests first.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_VENDOR "bi-conform")
set(CPACK_PACKAGE_FILE_NAME "bi-conform-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}")
string(TOLOWER "${CPACK_PACKAGE_FILE_NAME}" CPACK_PACKAGE_FILE_NAME)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL program)
set(CPACK_ARCHIVE_PROGRAM_FILE_NAME "${CPACK_PACKAGE_FILE_NAME}")
set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
set(CPACK_STRIP_FILES ON)
include(CPack)
