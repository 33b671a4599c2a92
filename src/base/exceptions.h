// What throws in Takt is memory that runs out, and code of other libraries. A
// build without exceptions (TAKT_SMALL) ends the process there:
//
//   TAKT_TRY {
//     elements.resize(size);
//   }
//   TAKT_CATCH(const std::bad_alloc&) {
//     return absl::ResourceExhaustedError("...");
//   }
#ifndef TAKT_BASE_EXCEPTIONS_H_
#define TAKT_BASE_EXCEPTIONS_H_

#if defined(__cpp_exceptions)
#define TAKT_TRY try
#define TAKT_CATCH(what) catch (what)
#else
#define TAKT_TRY if (true)
#define TAKT_CATCH(what) else
#endif

#endif  // TAKT_BASE_EXCEPTIONS_H_
