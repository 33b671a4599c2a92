#include "abi/guard.h"

#if defined(__cpp_exceptions)
#include <cxxabi.h>

#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>
#endif

#include "abi/status.h"

namespace takt::abi {

takt_status_t StatusOfException(const char* source) {
#if defined(__cpp_exceptions)
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return MakeStatus(TAKT_STATUS_RESOURCE_EXHAUSTED, source, "out of memory");
  } catch (const std::length_error& error) {  // A container beyond its limit.
    return MakeStatus(TAKT_STATUS_RESOURCE_EXHAUSTED, source, error.what());
  } catch (const std::system_error& error) {  // A thread that did not start.
    return MakeStatus(TAKT_STATUS_RESOURCE_EXHAUSTED, source, error.what());
  } catch (const std::exception& error) {
    return MakeStatus(TAKT_STATUS_INTERNAL, source, error.what());
  } catch (const __cxxabiv1::__forced_unwind&) {
    throw;
  } catch (...) {
    return MakeStatus(TAKT_STATUS_INTERNAL, source, "an unknown exception");
  }
#else
  return MakeStatus(TAKT_STATUS_INTERNAL, source, "built without exceptions");
#endif
}

void DropException() { FreeStatus(StatusOfException("")); }

}  // namespace takt::abi
