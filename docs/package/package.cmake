# SPDX-License-Identifier: MIT
# The Debian package. It names no person: who hands it on puts an address into CPACK_PACKAGE_CONTACT.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The zarrfs authors")
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_SET_DESTDIR ON) # else the prefix that install rules see is a folder of CPack's
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS fuse3)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "\
zarrfs mounts a Zarr store, of version 2 or 3, with FUSE and shows each array
as a folder of text files, one for each field, and the same as JSON lines, CSV,
flat binary and NumPy files. Any tool that reads files can read the store then:
grep, awk, jq, R, MATLAB, Fortran, spreadsheets.
.
The mount is read-only, every file has its exact size, and chunks are decoded
only when something reads them.")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/postinst ${CMAKE_CURRENT_LIST_DIR}/postrm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(version ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # of SOURCE_DATE_EPOCH, where that is set
configure_file(${CMAKE_CURRENT_LIST_DIR}/changelog.in ${made}/changelog.Debian @ONLY)
compress(changelog.Debian ${CMAKE_INSTALL_DOCDIR})
include(CPack)
