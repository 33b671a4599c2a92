// takt-encode-parameters: runs the encoder that iree-compile splits off a
// module (--iree-parameter-encoder-output-file), and writes the parameters that
// the module then takes.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tools/common/drivers.h"
#include "tools/common/flags.h"
#include "tools/common/main.h"
#include "tools/common/parameter_archive.h"
#include "tools/common/session.h"

namespace takt::tools {
namespace {

ToolInfo Info() {
  ToolInfo info;
  info.name = "takt-encode-parameters";
  info.summary = "Runs the encoder of a module's parameters.";
  info.text =
      "  takt-encode-parameters --module=encoder.vmfb --parameters=in.irpa\n"
      "                         --output=encoded.irpa\n\n"
      "An encoder is what iree-compile writes for the flag\n"
      "--iree-parameter-encoder-output-file, compiled.\n";
  info.has_peer = true;
  return info;
}

// Elements of an entry of an index: its type, key, metadata, length and
// alignment. Only entries with data are known.
constexpr size_t kEntrySize = 5;
constexpr int64_t kDataType = 1;

// What an encoder writes: a scope, and its parameters.
struct Index {
  std::string scope;
  std::vector<ArchiveEntry> entries;
};

// A file that is written under a name of its own, and takes its place only
// once all of it is there: it may be the input, too.
struct Output {
  std::string path;
  std::string temporary;
};

Status Malformed(const std::string& what) {
  return InvalidArgument("the encoder's index: " + what);
}

// The element of that kind; its absence is an error.
Result<std::string> TextAt(const List& list, size_t index) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Value value, list.Get(index));
  const takt_byte_buffer_t* const bytes =
      takt_value_as_byte_buffer(&value.get());
  if (bytes == nullptr) {
    return Malformed("element " + std::to_string(index) + " is no text");
  }
  return std::string(
      reinterpret_cast<const char*>(takt_byte_buffer_data(bytes)),
      takt_byte_buffer_byte_length(bytes));
}
Result<int64_t> NumberAt(const List& list, size_t index) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Value value, list.Get(index));
  if (value.kind() != TAKT_VALUE_I64) {
    return Malformed("element " + std::to_string(index) + " is no number");
  }
  return value.i64();
}
Result<List> ListAt(const List& list, size_t index) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Value value, list.Get(index));
  if (takt_value_as_list(&value.get()) == nullptr) {
    return Malformed("element " + std::to_string(index) + " is no list");
  }
  return value.list();
}

Result<ArchiveEntry> ReadEntry(const List& list) {
  if (list.size() < kEntrySize) {
    return Malformed("an entry of " + std::to_string(list.size()) +
                     " elements");
  }
  TAKT_TOOLS_ASSIGN_OR_RETURN(const int64_t type, NumberAt(list, 0));
  ArchiveEntry entry;
  TAKT_TOOLS_ASSIGN_OR_RETURN(entry.key, TextAt(list, 1));
  if (type != kDataType) {
    return Malformed("parameter '" + entry.key + "' is of type " +
                     std::to_string(type) + "; only " +
                     std::to_string(kDataType) + " (data) is supported");
  }
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Value metadata, list.Get(2));
  if (takt_value_as_byte_buffer(&metadata.get()) != nullptr) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(entry.metadata, TextAt(list, 2));
  }
  TAKT_TOOLS_ASSIGN_OR_RETURN(const int64_t length, NumberAt(list, 3));
  TAKT_TOOLS_ASSIGN_OR_RETURN(const int64_t alignment, NumberAt(list, 4));
  if (length < 0 || alignment < 0) {
    return Malformed("parameter '" + entry.key + "' has " +
                     std::to_string(length) + " bytes, aligned to " +
                     std::to_string(alignment));
  }
  entry.byte_length = static_cast<uint64_t>(length);
  entry.alignment = static_cast<uint64_t>(alignment);
  return entry;
}

Result<std::vector<Index>> ReadIndices(const List& list) {
  std::vector<Index> indices;
  for (size_t i = 0; i < list.size(); ++i) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(const List pair, ListAt(list, i));
    Index index;
    TAKT_TOOLS_ASSIGN_OR_RETURN(index.scope, TextAt(pair, 0));
    TAKT_TOOLS_ASSIGN_OR_RETURN(const List entries, ListAt(pair, 1));
    for (size_t k = 0; k < entries.size(); ++k) {
      TAKT_TOOLS_ASSIGN_OR_RETURN(const List each, ListAt(entries, k));
      TAKT_TOOLS_ASSIGN_OR_RETURN(ArchiveEntry entry, ReadEntry(each));
      index.entries.push_back(std::move(entry));
    }
    indices.push_back(std::move(index));
  }
  return indices;
}

// The function that the encoder has for `role`, and for `target` unless that is
// empty.
Result<Function> FindFunction(const Context& context, const Module& module,
                              std::string_view role,
                              const std::string& target = "") {
  for (size_t i = 0; i < module.export_count(); ++i) {
    Result<Function> function = context.FindFunction(
        std::string(module.name()) + "." + std::string(module.export_name(i)));
    if (!function.ok()) continue;  // One of the lifecycle.
    if (function->attribute("iree.encode.function") != role) continue;
    if (target.empty() || function->attribute("iree.encode.target") == target) {
      return function;
    }
  }
  return InvalidArgument(
      "module " + std::string(module.name()) + " has no function '" +
      std::string(role) + "'" +
      (target.empty() ? "" : " for the target '" + target + "'") +
      ": it is no encoder of parameters, or not for this machine");
}

Result<Value> OnlyResult(Result<std::vector<Value>> results) {
  if (!results.ok()) return results.status();
  if (results->size() == 1) return (*results)[0];
  return InvalidArgument("the encoder returns " +
                         std::to_string(results->size()) + " values, not 1");
}

// What the encoder calls the devices that there are.
Result<std::string> DetectTarget(const Session& session,
                                 const Context& context) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(
      const Function detect,
      FindFunction(context, session.main_module(), "detect_target"));
  TAKT_TOOLS_ASSIGN_OR_RETURN(const List devices, List::Create());
  for (const Device& device : session.devices) {
    TAKT_TOOLS_RETURN_IF_ERROR(devices.Append(device));
  }
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Value target,
                              OnlyResult(detect.Invoke(devices)));
  const takt_byte_buffer_t* const text =
      takt_value_as_byte_buffer(&target.get());
  if (text == nullptr) return InvalidArgument("no target fits the devices");
  return std::string(reinterpret_cast<const char*>(takt_byte_buffer_data(text)),
                     takt_byte_buffer_byte_length(text));
}

Result<std::vector<Index>> QueryIndices(const Session& session,
                                        const Context& context,
                                        const std::string& target) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(
      const Function function,
      FindFunction(context, session.main_module(), "indices", target));
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Value list, OnlyResult(function.Invoke()));
  if (takt_value_as_list(&list.get()) == nullptr) {
    return Malformed("it is no list");
  }
  return ReadIndices(list.list());
}

// The path among `outputs` ("file" or "scope=file") for a scope; a file alone
// is for every scope.
Result<std::string> OutputFor(const std::vector<std::string>& outputs,
                              const std::string& scope) {
  for (const std::string& output : outputs) {
    const size_t equals = output.find('=');
    if (equals == std::string::npos) return output;
    if (output.substr(0, equals) == scope) return output.substr(equals + 1);
  }
  return InvalidArgument("no --output=" + scope +
                         "=FILE for the encoded scope '" + scope + "'");
}

// The file that `path` leads to, links followed, which is going to be replaced.
Result<std::string> FileBehind(const std::string& path) {
  std::error_code error;
  const std::filesystem::path target =
      std::filesystem::weakly_canonical(path, error);
  if (error) return InvalidArgument(path + ": " + error.message());
  const auto type = std::filesystem::status(target, error).type();
  if (type != std::filesystem::file_type::regular &&
      type != std::filesystem::file_type::not_found) {
    return InvalidArgument(path + ": no regular file, as an archive has to be");
  }
  return target.string();
}

// Puts the new file in the place of the old one, with its permissions.
Status Replace(const Output& output) {
  std::error_code error;
  const auto old = std::filesystem::status(output.path, error);
  if (std::filesystem::exists(old)) {
    std::filesystem::permissions(output.temporary, old.permissions(), error);
    if (error) return InvalidArgument(output.path + ": " + error.message());
  }
  std::filesystem::rename(output.temporary, output.path, error);
  if (error) return InvalidArgument(output.path + ": " + error.message());
  return Status();
}

// Makes the files of `indices`, adds them to the session's parameters.
// An error for an output that no scope takes.
Status CheckOutputs(const std::vector<Index>& indices,
                    const std::vector<std::string>& outputs) {
  for (const std::string& output : outputs) {
    // Without a scope find() returns npos, and npos + 1 is 0.
    const std::string path = output.substr(output.find('=') + 1);
    const bool is_taken =
        std::any_of(indices.begin(), indices.end(), [&](const Index& index) {
          const Result<std::string> taken = OutputFor(outputs, index.scope);
          return taken.ok() && *taken == path;
        });
    if (is_taken) continue;
    std::string scopes;
    for (const Index& index : indices) {
      scopes += (scopes.empty() ? "" : ", ") + index.scope;
    }
    return InvalidArgument("--output=" + output +
                           ": nothing is written to it; the scopes are " +
                           scopes);
  }
  return Status();
}

Status CreateOutputs(const std::vector<Index>& indices,
                     const std::vector<std::string>& outputs, Session* session,
                     std::vector<Output>* created) {
  for (const Index& index : indices) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string given,
                                OutputFor(outputs, index.scope));
    TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string path, FileBehind(given));
    for (const Output& earlier : *created) {
      if (earlier.path == path) {
        return InvalidArgument("--output: two scopes write " + path);
      }
    }
    const std::string temporary = path + ".part";
    created->push_back({path, temporary});
    TAKT_TOOLS_RETURN_IF_ERROR(CreateArchive(temporary, index.entries));
    takt_parameters_options_t options;
    takt_parameters_options_init(&options);
    options.scope = index.scope.c_str();
    options.writable = true;
    TAKT_TOOLS_ASSIGN_OR_RETURN(
        Parameters parameters,
        Parameters::Open(session->instance, temporary, options));
    session->parameters.push_back(std::move(parameters));
  }
  return Status();
}

// Runs the encoder with what it reads and what it writes.
Status Encode(const Session& session, const std::string& target) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Context context, session.CreateContext());
  const Module& module = session.main_module();
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Function plan,
                              FindFunction(context, module, "steps", target));
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Value steps, OnlyResult(plan.Invoke()));
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Function encode,
                              FindFunction(context, module, "encode", target));
  return encode.Invoke(steps).status();
}

void PrintIndices(const std::vector<Index>& indices,
                  const std::vector<Output>& outputs) {
  for (size_t i = 0; i < indices.size(); ++i) {
    uint64_t byte_length = 0;
    for (const ArchiveEntry& entry : indices[i].entries) {
      byte_length += entry.byte_length;
    }
    std::printf("%s: scope '%s': %zu parameters, %llu bytes\n",
                outputs[i].path.c_str(), indices[i].scope.c_str(),
                indices[i].entries.size(),
                static_cast<unsigned long long>(byte_length));
  }
}

Status EncodeTo(const std::vector<std::string>& paths, std::string target,
                Session* session, std::vector<Output>* outputs) {
  std::vector<Index> indices;
  {
    TAKT_TOOLS_ASSIGN_OR_RETURN(const Context context,
                                session->CreateContext());
    if (target.empty()) {
      TAKT_TOOLS_ASSIGN_OR_RETURN(target, DetectTarget(*session, context));
    }
    TAKT_TOOLS_ASSIGN_OR_RETURN(indices,
                                QueryIndices(*session, context, target));
  }
  TAKT_TOOLS_RETURN_IF_ERROR(CreateOutputs(indices, paths, session, outputs));
  TAKT_TOOLS_RETURN_IF_ERROR(CheckOutputs(indices, paths));
  TAKT_TOOLS_RETURN_IF_ERROR(Encode(*session, target));
  for (const Output& output : *outputs) {
    TAKT_TOOLS_RETURN_IF_ERROR(Replace(output));
  }
  PrintIndices(indices, *outputs);
  return Status();
}

Result<int> Run(int argc, char** argv, Flags* flags) {
  SessionFlags session_flags;
  std::vector<std::string> paths;
  std::string target;
  session_flags.AddTo(flags);
  flags->AddTexts(
      "output", &paths,
      "The file to write, file or scope=file. Repeat it for encoders "
      "of several scopes.");
  flags->AddText(
      "target", &target,
      "What the encoder calls the devices to encode for. Default: it "
      "looks at\nthose that there are.");
  TAKT_TOOLS_ASSIGN_OR_RETURN(const bool goes_on,
                              flags->ParseCommandLine(argc, argv));
  if (!goes_on) return kSuccess;
  TAKT_TOOLS_RETURN_IF_ERROR(flags->RefusePositional());
  TAKT_TOOLS_ASSIGN_OR_RETURN(const bool has_listed,
                              ListDevices(session_flags));
  if (has_listed) return kSuccess;
  if (paths.empty()) return flags->Misuse("no output; --output=file.irpa");
  TAKT_TOOLS_ASSIGN_OR_RETURN(Session session, Session::Open(session_flags));
  std::vector<Output> outputs;
  Status status = EncodeTo(paths, target, &session, &outputs);
  if (!status.ok()) {
    std::error_code ignored;
    for (const Output& output : outputs) {
      std::filesystem::remove(output.temporary, ignored);
    }
    return Annotate(status, session_flags.modules.back());
  }
  TAKT_TOOLS_RETURN_IF_ERROR(session.End(session_flags));
  return kSuccess;
}

}  // namespace
}  // namespace takt::tools

int main(int argc, char** argv) {
  return takt::tools::RunTool(takt::tools::Info(),
                              [&](takt::tools::Flags* flags) {
                                return takt::tools::Run(argc, argv, flags);
                              });
}
