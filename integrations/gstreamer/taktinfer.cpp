// The element taktinfer: calls a function of a compiled module with each video
// frame. README.md has its properties; inference.h turns frames into tensors.
#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include <atomic>
#include <string>

#include "inference.h"
#include "overlay.h"

namespace {

GST_DEBUG_CATEGORY_STATIC(category);
#define GST_CAT_DEFAULT category

constexpr char kMetaName[] = "TaktTensorsMeta";
constexpr char kTensorCaps[] = "application/x-takt-tensors";

enum Output { kOutputMeta, kOutputTensors, kOutputOverlay };

enum Property {
  kPropertyNone,
  kModule,
  kFunction,
  kInstanceName,
  kPolicy,
  kCriticality,
  kOutput,
  kScale,
  kOffset,
  kDeadline,
  kDropLate,
  kFrames,
  kLate,
  kDropped,
  kCopied,
  kInstanceUsers,
};

// What the element has beside its GObject.
struct State {
  Inference::Settings settings;
  std::string instance_name = "default";
  std::string policy = "job-shop";
  takt_criticality_t criticality = TAKT_CRITICALITY_SOFT;
  Output output = kOutputMeta;
  GstClockTime deadline = GST_CLOCK_TIME_NONE;  // None: a frame's duration.
  bool drop_late = false;

  // Between start() and stop().
  std::shared_ptr<SharedInstance> shared;
  std::unique_ptr<Inference> inference;
  GstVideoInfo info;
  std::atomic<uint64_t> frame_count = 0, late_count = 0, dropped_count = 0;
};

struct TaktInfer {
  GstBaseTransform parent;
  State* state;
};

struct TaktInferClass {
  GstBaseTransformClass parent;
};

G_DEFINE_TYPE(TaktInfer, takt_infer, GST_TYPE_BASE_TRANSFORM)

State& StateOf(gpointer object) {
  return *reinterpret_cast<TaktInfer*>(object)->state;
}

int32_t PriorityOf(takt_criticality_t criticality) {
  switch (criticality) {
    case TAKT_CRITICALITY_HARD:
      return 224;
    case TAKT_CRITICALITY_SOFT:
      return 128;
    case TAKT_CRITICALITY_BEST_EFFORT:
      return 32;
  }
  return 128;
}

GType CriticalityType() {
  static const GEnumValue kValues[] = {
      {TAKT_CRITICALITY_HARD, "Must not be late", "hard"},
      {TAKT_CRITICALITY_SOFT, "Should not be late", "soft"},
      {TAKT_CRITICALITY_BEST_EFFORT, "In the time that others leave",
       "best-effort"},
      {0, nullptr, nullptr}};
  static const GType type =
      g_enum_register_static("TaktInferCriticality", kValues);
  return type;
}

GType OutputType() {
  static const GEnumValue kValues[] = {
      {kOutputMeta, "The video, with the tensors as TaktTensorsMeta", "meta"},
      {kOutputTensors, "The tensors, a memory each", "tensors"},
      {kOutputOverlay, "The video with the tensors drawn over it, and the meta",
       "overlay"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("TaktInferOutput", kValues);
  return type;
}

void SetProperty(GObject* object, guint id, const GValue* value,
                 GParamSpec* spec) {
  State& state = StateOf(object);
  const auto text = [&] {
    const char* given = g_value_get_string(value);
    return std::string(given != nullptr ? given : "");
  };
  GST_OBJECT_LOCK(object);
  switch (id) {
    case kModule:
      state.settings.module = text();
      break;
    case kFunction:
      state.settings.function = text();
      break;
    case kInstanceName:
      state.instance_name = text();
      break;
    case kPolicy:
      state.policy = text();
      break;
    case kCriticality:
      state.criticality = takt_criticality_t(g_value_get_enum(value));
      break;
    case kOutput:
      state.output = Output(g_value_get_enum(value));
      break;
    case kScale:
      state.settings.scale = g_value_get_float(value);
      break;
    case kOffset:
      state.settings.offset = g_value_get_float(value);
      break;
    case kDeadline:
      state.deadline = g_value_get_uint64(value);
      break;
    case kDropLate:
      state.drop_late = g_value_get_boolean(value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
  GST_OBJECT_UNLOCK(object);
}

void GetProperty(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  State& state = StateOf(object);
  GST_OBJECT_LOCK(object);
  switch (id) {
    case kModule:
      g_value_set_string(value, state.settings.module.c_str());
      break;
    case kFunction:
      g_value_set_string(value, state.settings.function.c_str());
      break;
    case kInstanceName:
      g_value_set_string(value, state.instance_name.c_str());
      break;
    case kPolicy:
      g_value_set_string(value, state.policy.c_str());
      break;
    case kCriticality:
      g_value_set_enum(value, state.criticality);
      break;
    case kOutput:
      g_value_set_enum(value, state.output);
      break;
    case kScale:
      g_value_set_float(value, state.settings.scale);
      break;
    case kOffset:
      g_value_set_float(value, state.settings.offset);
      break;
    case kDeadline:
      g_value_set_uint64(value, state.deadline);
      break;
    case kDropLate:
      g_value_set_boolean(value, state.drop_late);
      break;
    case kFrames:
      g_value_set_uint64(value, state.frame_count);
      break;
    case kLate:
      g_value_set_uint64(value, state.late_count);
      break;
    case kDropped:
      g_value_set_uint64(value, state.dropped_count);
      break;
    case kCopied:
      g_value_set_uint64(value, state.inference != nullptr
                                    ? state.inference->copied_count()
                                    : 0);
      break;
    case kInstanceUsers:
      g_value_set_uint(value, guint(state.shared.use_count()) / 2);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
  GST_OBJECT_UNLOCK(object);
}

gboolean Start(GstBaseTransform* base) {
  State& state = StateOf(base);
  if (state.settings.module.empty()) {
    GST_ELEMENT_ERROR(base, RESOURCE, SETTINGS,
                      ("the property \"module\" is not set"), (nullptr));
    return FALSE;
  }
  auto shared = ShareInstance(state.instance_name, state.policy);
  if (!shared.ok()) {
    GST_ELEMENT_ERROR(base, RESOURCE, SETTINGS,
                      ("%s", shared.status().ToString().c_str()), (nullptr));
    return FALSE;
  }
  auto inference = Inference::Create(*shared, state.settings);
  if (!inference.ok()) {
    GST_ELEMENT_ERROR(base, RESOURCE, OPEN_READ,
                      ("%s: %s", state.settings.module.c_str(),
                       inference.status().ToString().c_str()),
                      (nullptr));
    return FALSE;
  }
  GST_OBJECT_LOCK(base);
  state.shared = *shared;
  state.inference = *std::move(inference);
  state.frame_count = state.late_count = state.dropped_count = 0;
  GST_OBJECT_UNLOCK(base);
  gst_base_transform_set_in_place(base, state.output != kOutputTensors);
  gst_base_transform_set_qos_enabled(base, state.drop_late);
  return TRUE;
}

gboolean Stop(GstBaseTransform* base) {
  State& state = StateOf(base);
  GST_OBJECT_LOCK(base);
  state.inference = nullptr;
  state.shared = nullptr;
  GST_OBJECT_UNLOCK(base);
  return TRUE;
}

// What the module takes; before start(), every size.
GstCaps* VideoCaps(const State& state) {
  GstCaps* caps = gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING,
                                      "RGB", nullptr);
  if (state.inference != nullptr) {
    gst_caps_set_simple(caps, "width", G_TYPE_INT, state.inference->width(),
                        "height", G_TYPE_INT, state.inference->height(),
                        nullptr);
  }
  return caps;
}

GstCaps* TransformCaps(GstBaseTransform* base, GstPadDirection direction,
                       GstCaps* caps, GstCaps* filter) {
  const State& state = StateOf(base);
  GstCaps* result;
  if (state.output != kOutputTensors) {
    GstCaps* video = VideoCaps(state);
    result = gst_caps_intersect_full(caps, video, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref(video);
  } else {
    result = direction == GST_PAD_SINK ? gst_caps_new_empty_simple(kTensorCaps)
                                       : VideoCaps(state);
    if (direction == GST_PAD_SINK && state.inference != nullptr &&
        !state.inference->result_types().empty()) {
      gst_caps_set_simple(result, "types", G_TYPE_STRING,
                          state.inference->result_types().c_str(), nullptr);
    }
    const GValue* rate =
        gst_caps_is_empty(caps) || gst_caps_is_any(caps)
            ? nullptr
            : gst_structure_get_value(gst_caps_get_structure(caps, 0),
                                      "framerate");
    if (rate != nullptr) gst_caps_set_value(result, "framerate", rate);
  }
  if (filter != nullptr) {
    GstCaps* filtered =
        gst_caps_intersect_full(filter, result, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref(result);
    result = filtered;
  }
  return result;
}

gboolean SetCaps(GstBaseTransform* base, GstCaps* in, GstCaps*) {
  return gst_video_info_from_caps(&StateOf(base).info, in);
}

// Asks the element before this one for frames that the function can read where
// they lie. Frames that go on are also as the elements after this one ask.
gboolean ProposeAllocation(GstBaseTransform* base, GstQuery* decided,
                           GstQuery* query) {
  // FALSE if the elements after this one ask for nothing.
  GST_BASE_TRANSFORM_CLASS(takt_infer_parent_class)
      ->propose_allocation(base, decided, query);
  GstAllocator* allocator = nullptr;
  GstAllocationParams parameters;
  gst_allocation_params_init(&parameters);
  const bool has_any = gst_query_get_n_allocation_params(query) > 0;
  if (has_any) {
    gst_query_parse_nth_allocation_param(query, 0, &allocator, &parameters);
  }
  parameters.align |= TAKT_BUFFER_ALIGNMENT - 1;
  if (has_any) {
    gst_query_set_nth_allocation_param(query, 0, allocator, &parameters);
  } else {
    gst_query_add_allocation_param(query, nullptr, &parameters);
  }
  if (allocator != nullptr) gst_object_unref(allocator);
  return TRUE;
}

// Of tensors, transform() adds the memories.
GstFlowReturn PrepareOutput(GstBaseTransform* base, GstBuffer* in,
                            GstBuffer** out) {
  if (StateOf(base).output != kOutputTensors) {
    return GST_BASE_TRANSFORM_CLASS(takt_infer_parent_class)
        ->prepare_output_buffer(base, in, out);
  }
  *out = gst_buffer_new();
  gst_buffer_copy_into(
      *out, in,
      GstBufferCopyFlags(GST_BUFFER_COPY_TIMESTAMPS | GST_BUFFER_COPY_FLAGS), 0,
      size_t(-1));
  return GST_FLOW_OK;
}

// When a frame's results are due.
struct Due {
  GstClockTime running_time = GST_CLOCK_TIME_NONE;
  int64_t left_ns = 0;                   // Below 0: it has passed.
  int64_t at_ns = TAKT_INFINITE_FUTURE;  // Of takt_clock_now_ns().
};

// A frame is due its deadline after its running time. Without a clock or a
// timestamp it never is.
Due DueOf(GstBaseTransform* base, GstBuffer* buffer) {
  const State& state = StateOf(base);
  Due due;
  due.running_time = gst_segment_to_running_time(
      &base->segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
  GstClock* clock = gst_element_get_clock(GST_ELEMENT(base));
  GstClockTime deadline = state.deadline;
  if (!GST_CLOCK_TIME_IS_VALID(deadline)) {
    deadline = GST_BUFFER_DURATION(buffer);
  }
  if (clock != nullptr && GST_CLOCK_TIME_IS_VALID(due.running_time) &&
      GST_CLOCK_TIME_IS_VALID(deadline)) {
    const GstClockTime now = gst_clock_get_time(clock);
    due.left_ns =
        GST_CLOCK_DIFF(now, gst_element_get_base_time(GST_ELEMENT(base)) +
                                due.running_time + deadline);
    due.at_ns = takt_clock_now_ns() + due.left_ns;
  }
  if (clock != nullptr) gst_object_unref(clock);
  return due;
}

// Says to the elements before this one and to the application that a frame was
// late, so that cameras and decoders can give fewer.
void ReportLate(GstBaseTransform* base, GstBuffer* buffer, const Due& due,
                int64_t late_ns) {
  State& state = StateOf(base);
  const GstClockTime duration = GST_BUFFER_DURATION(buffer);
  const double proportion = GST_CLOCK_TIME_IS_VALID(duration) && duration > 0
                                ? 1 + double(late_ns) / double(duration)
                                : 2;
  GstMessage* message = gst_message_new_qos(
      GST_OBJECT(base), FALSE, due.running_time,
      gst_segment_to_stream_time(&base->segment, GST_FORMAT_TIME,
                                 GST_BUFFER_PTS(buffer)),
      GST_BUFFER_PTS(buffer), duration);
  gst_message_set_qos_values(message, late_ns, proportion, 1000000);
  gst_message_set_qos_stats(message, GST_FORMAT_BUFFERS, state.frame_count,
                            state.dropped_count);
  gst_element_post_message(GST_ELEMENT(base), message);
  gst_pad_push_event(base->sinkpad,
                     gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, proportion,
                                       late_ns, due.running_time));
}

// Calls the function. `results` stay empty if the frame is dropped.
GstFlowReturn Infer(GstBaseTransform* base, GstBuffer* buffer,
                    std::vector<takt::Value>& results) {
  State& state = StateOf(base);
  const Due due = DueOf(base, buffer);
  if (state.drop_late && due.left_ns < 0) {
    ++state.dropped_count;
    ReportLate(base, buffer, due, -due.left_ns);
    return GST_BASE_TRANSFORM_FLOW_DROPPED;
  }
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, &state.info, buffer, GST_MAP_READ)) {
    GST_ELEMENT_ERROR(base, RESOURCE, READ, ("a frame cannot be mapped"),
                      (nullptr));
    return GST_FLOW_ERROR;
  }
  auto outcome = state.inference->Run(
      static_cast<const uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0)),
      size_t(GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0)),
      PriorityOf(state.criticality), due.at_ns);
  gst_video_frame_unmap(&frame);
  if (!outcome.ok()) {
    GST_ELEMENT_ERROR(base, STREAM, FAILED,
                      ("%s", outcome.status().ToString().c_str()), (nullptr));
    return GST_FLOW_ERROR;
  }
  ++state.frame_count;
  const int64_t now_ns = takt_clock_now_ns();
  if (now_ns > due.at_ns) {
    ++state.late_count;
    ReportLate(base, buffer, due, now_ns - due.at_ns);
  }
  results = *std::move(outcome);
  return GST_FLOW_OK;
}

// A result as memory of GStreamer, where it lies; the memory keeps it.
GstMemory* MemoryOf(const takt::BufferView& view) {
  struct Holder {
    takt::BufferView view;
    takt::Mapping mapping;
  };
  auto mapping = view.buffer().Map(TAKT_ACCESS_READ);
  if (!mapping.ok()) return nullptr;
  auto* holder = new Holder{view, *std::move(mapping)};
  const std::span<uint8_t> bytes = holder->mapping.bytes();
  const size_t length = std::min(bytes.size(), view.byte_length());
  return gst_memory_new_wrapped(
      GST_MEMORY_FLAG_READONLY, bytes.data(), length, 0, length, holder,
      [](gpointer data) { delete static_cast<Holder*>(data); });
}

GstFlowReturn Refuse(GstBaseTransform* base) {
  GST_ELEMENT_ERROR(base, STREAM, FAILED,
                    ("%s: a result is no tensor that can be read",
                     StateOf(base).settings.module.c_str()),
                    (nullptr));
  return GST_FLOW_ERROR;
}

// Draws the results over their frame. The base class gives a frame that may be
// written: the one that came if nobody else has it, else a copy.
GstFlowReturn Draw(GstBaseTransform* base, GstBuffer* buffer,
                   const std::vector<takt::Value>& results) {
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, &StateOf(base).info, buffer,
                           GST_MAP_READWRITE)) {
    GST_ELEMENT_ERROR(base, RESOURCE, WRITE, ("a frame cannot be mapped"),
                      (nullptr));
    return GST_FLOW_ERROR;
  }
  const Picture picture = {
      static_cast<uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0)),
      size_t(GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0)),
      GST_VIDEO_FRAME_WIDTH(&frame), GST_VIDEO_FRAME_HEIGHT(&frame)};
  takt::Status status;
  for (const takt::Value& result : results) {
    if (status.ok()) status = DrawOverlay(result.view(), picture);
  }
  gst_video_frame_unmap(&frame);
  if (status.ok()) return GST_FLOW_OK;
  GST_ELEMENT_ERROR(base, STREAM, FAILED,
                    ("%s: %s", StateOf(base).settings.module.c_str(),
                     status.ToString().c_str()),
                    (nullptr));
  return GST_FLOW_ERROR;
}

GstFlowReturn TransformIp(GstBaseTransform* base, GstBuffer* buffer) {
  std::vector<takt::Value> results;
  const GstFlowReturn flow = Infer(base, buffer, results);
  if (flow != GST_FLOW_OK) return flow;
  GstCustomMeta* meta = gst_buffer_add_custom_meta(buffer, kMetaName);
  GstStructure* fields = gst_custom_meta_get_structure(meta);
  gst_structure_set(fields, "module", G_TYPE_STRING,
                    StateOf(base).settings.module.c_str(), "count", G_TYPE_UINT,
                    guint(results.size()), nullptr);
  for (size_t i = 0; i < results.size(); ++i) {
    GstMemory* memory = MemoryOf(results[i].view());
    if (memory == nullptr) return Refuse(base);
    GstBuffer* data = gst_buffer_new();
    gst_buffer_append_memory(data, memory);
    const std::string number = std::to_string(i);
    gst_structure_set(fields, ("type-" + number).c_str(), G_TYPE_STRING,
                      Inference::TypeOf(results[i].view()).c_str(),
                      ("data-" + number).c_str(), GST_TYPE_BUFFER, data,
                      nullptr);
    gst_buffer_unref(data);
  }
  return StateOf(base).output == kOutputOverlay ? Draw(base, buffer, results)
                                                : GST_FLOW_OK;
}

GstFlowReturn Transform(GstBaseTransform* base, GstBuffer* in, GstBuffer* out) {
  std::vector<takt::Value> results;
  const GstFlowReturn flow = Infer(base, in, results);
  if (flow != GST_FLOW_OK) return flow;
  for (const takt::Value& result : results) {
    GstMemory* memory = MemoryOf(result.view());
    if (memory == nullptr) return Refuse(base);
    gst_buffer_append_memory(out, memory);
  }
  return GST_FLOW_OK;
}

void Finalize(GObject* object) {
  delete reinterpret_cast<TaktInfer*>(object)->state;
  G_OBJECT_CLASS(takt_infer_parent_class)->finalize(object);
}

void takt_infer_init(TaktInfer* self) { self->state = new State; }

void InstallProperties(GObjectClass* object) {
  const auto flags = GParamFlags(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                 GST_PARAM_MUTABLE_READY);
  const auto counts = GParamFlags(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  const auto text = [&](Property id, const char* name, const char* nick,
                        const char* blurb, const char* value) {
    g_object_class_install_property(
        object, id, g_param_spec_string(name, nick, blurb, value, flags));
  };
  const auto count = [&](Property id, const char* name, const char* nick,
                         const char* blurb) {
    g_object_class_install_property(
        object, id,
        g_param_spec_uint64(name, nick, blurb, 0, G_MAXUINT64, 0, counts));
  };
  text(kModule, "module", "Module", "The compiled module, a .vmfb file", "");
  text(kFunction, "function", "Function",
       "The function to call, such as \"detect\"", "");
  text(kInstanceName, "instance-name", "Instance name",
       "Elements of one name share an instance and its scheduler", "default");
  text(kPolicy, "policy", "Policy",
       "The scheduler's policy; all elements of an instance have the same",
       "job-shop");
  g_object_class_install_property(
      object, kCriticality,
      g_param_spec_enum("criticality", "Criticality", "How urgent the work is",
                        CriticalityType(), TAKT_CRITICALITY_SOFT, flags));
  g_object_class_install_property(
      object, kOutput,
      g_param_spec_enum("output", "Output", "What the element gives",
                        OutputType(), kOutputMeta, flags));
  g_object_class_install_property(
      object, kScale,
      g_param_spec_float("scale", "Scale",
                         "Floating-point inputs are byte * scale + offset",
                         -G_MAXFLOAT, G_MAXFLOAT, 1.0f / 255, flags));
  g_object_class_install_property(
      object, kOffset,
      g_param_spec_float("offset", "Offset",
                         "Floating-point inputs are byte * scale + offset",
                         -G_MAXFLOAT, G_MAXFLOAT, 0, flags));
  g_object_class_install_property(
      object, kDeadline,
      g_param_spec_uint64(
          "deadline", "Deadline",
          "When results are due, in ns after the frame's running time; "
          "default: the frame's duration",
          0, G_MAXUINT64, G_MAXUINT64, flags));
  g_object_class_install_property(
      object, kDropLate,
      g_param_spec_boolean("drop-late", "Drop late",
                           "Drop a frame whose deadline has passed", FALSE,
                           flags));
  count(kFrames, "frames", "Frames",
        "Frames that the function was called with");
  count(kLate, "late", "Late", "Those whose results came after the deadline");
  count(kDropped, "dropped", "Dropped", "Frames that were dropped as late");
  count(kCopied, "copied", "Copied",
        "Frames that could not be used where they lie");
  g_object_class_install_property(
      object, kInstanceUsers,
      g_param_spec_uint("instance-users", "Instance users",
                        "Elements that share the instance", 0, G_MAXUINT, 0,
                        counts));
}

void takt_infer_class_init(TaktInferClass* self) {
  auto* object = G_OBJECT_CLASS(self);
  object->set_property = SetProperty;
  object->get_property = GetProperty;
  object->finalize = Finalize;
  InstallProperties(object);
  auto* element = GST_ELEMENT_CLASS(self);
  gst_element_class_set_static_metadata(
      element, "Takt inference", "Filter/Analyzer/Video",
      "Calls a compiled neural network with each frame, by its deadline",
      "Takt");
  for (const char* direction : {"sink", "src"}) {
    const bool is_sink = direction[1] == 'i';
    GstCaps* caps = gst_caps_from_string(
        is_sink ? "video/x-raw, format=RGB"
                : "video/x-raw, format=RGB; application/x-takt-tensors");
    gst_element_class_add_pad_template(
        element,
        gst_pad_template_new(direction, is_sink ? GST_PAD_SINK : GST_PAD_SRC,
                             GST_PAD_ALWAYS, caps));
    gst_caps_unref(caps);
  }
  auto* base = GST_BASE_TRANSFORM_CLASS(self);
  base->start = Start;
  base->stop = Stop;
  base->transform_caps = TransformCaps;
  base->set_caps = SetCaps;
  base->propose_allocation = ProposeAllocation;
  base->prepare_output_buffer = PrepareOutput;
  base->transform = Transform;
  base->transform_ip = TransformIp;
  base->passthrough_on_same_caps = FALSE;
  gst_type_mark_as_plugin_api(CriticalityType(), GstPluginAPIFlags(0));
  gst_type_mark_as_plugin_api(OutputType(), GstPluginAPIFlags(0));
}

gboolean InitPlugin(GstPlugin* plugin) {
  GST_DEBUG_CATEGORY_INIT(category, "taktinfer", 0, "Takt inference");
  static const char* kTags[] = {nullptr};
  gst_meta_register_custom(kMetaName, kTags, nullptr, nullptr, nullptr);
  return gst_element_register(plugin, "taktinfer", GST_RANK_NONE,
                              takt_infer_get_type());
}

}  // namespace

#define PACKAGE "takt"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, takt,
                  "Neural networks by Takt", InitPlugin, "0.1.0", "Apache 2.0",
                  "Takt", "https://example.org")
