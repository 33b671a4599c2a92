// Pipelines with taktinfer. invert.vmfb gives the picture with all bits
// inverted, same.vmfb the picture itself: 1x48x64x3xi8.
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

namespace {

constexpr char kInvert[] = TEST_DIR "/invert.vmfb";
constexpr char kSame[] = TEST_DIR "/same.vmfb";
constexpr char kDetect[] = TAKT_TESTDATA_DIR "/workload/perception.cpu.vmfb";
constexpr size_t kFrameBytes = size_t{64} * 48 * 3;
constexpr char kSource[] =
    "appsrc name=source format=time "
    "caps=video/x-raw,format=RGB,width=64,height=48,framerate=30/1 ! ";

// A pipeline of a description; its elements are found by name.
class Pipeline {
 public:
  explicit Pipeline(const std::string& description) {
    GError* error = nullptr;
    pipeline_ = gst_parse_launch(description.c_str(), &error);
    EXPECT_EQ(error, nullptr) << error->message;
  }
  ~Pipeline() {
    gst_element_set_state(pipeline_, GST_STATE_NULL);
    gst_object_unref(pipeline_);
  }

  GstElement* get() const { return pipeline_; }
  GstElement* Find(const char* name) const {
    GstElement* element = gst_bin_get_by_name(GST_BIN(pipeline_), name);
    gst_object_unref(element);  // The pipeline keeps it.
    return element;
  }
  bool Play() {
    return gst_element_set_state(pipeline_, GST_STATE_PLAYING) !=
           GST_STATE_CHANGE_FAILURE;
  }
  uint64_t Count(const char* element, const char* property) const {
    uint64_t value = 0;
    g_object_get(Find(element), property, &value, nullptr);
    return value;
  }
  // Waits for a message of this kind; NULL after 10 s.
  GstMessage* Wait(GstMessageType type) const {
    GstBus* bus = gst_element_get_bus(pipeline_);
    GstMessage* message =
        gst_bus_timed_pop_filtered(bus, 10 * GST_SECOND, type);
    gst_object_unref(bus);
    return message;
  }
  std::string WaitForError() const {
    GstMessage* message = Wait(GST_MESSAGE_ERROR);
    if (message == nullptr) return "no error";
    GError* error = nullptr;
    gst_message_parse_error(message, &error, nullptr);
    std::string text = error->message;
    g_error_free(error);
    gst_message_unref(message);
    return text;
  }
  // A frame of which every byte is `value`.
  void Push(uint8_t value, GstClockTime pts) {
    GstBuffer* buffer = gst_buffer_new_allocate(nullptr, kFrameBytes, nullptr);
    gst_buffer_memset(buffer, 0, value, kFrameBytes);
    GST_BUFFER_PTS(buffer) = pts;
    GST_BUFFER_DURATION(buffer) = 33 * GST_MSECOND;
    gst_app_src_push_buffer(GST_APP_SRC(Find("source")), buffer);
  }
  void EndOfStream() { gst_app_src_end_of_stream(GST_APP_SRC(Find("source"))); }
  GstSample* Pull() {
    return gst_app_sink_try_pull_sample(GST_APP_SINK(Find("sink")),
                                        10 * GST_SECOND);
  }
  // Makes the running time `late`, so that frames of time 0 are late by it.
  void BeginLate(GstClockTime late) {
    gst_element_set_start_time(pipeline_, GST_CLOCK_TIME_NONE);
    GstClock* clock = gst_system_clock_obtain();
    gst_pipeline_use_clock(GST_PIPELINE(pipeline_), clock);
    gst_element_set_base_time(pipeline_, gst_clock_get_time(clock) - late);
    gst_object_unref(clock);
  }

 private:
  GstElement* pipeline_;
};

std::string Description(const std::string& properties) {
  return kSource + std::string("taktinfer name=infer function=invert module=") +
         kInvert + " " + properties + " ! appsink name=sink sync=false";
}

std::vector<uint8_t> BytesOf(GstBuffer* buffer) {
  std::vector<uint8_t> bytes(gst_buffer_get_size(buffer));
  gst_buffer_extract(buffer, 0, bytes.data(), bytes.size());
  return bytes;
}

TEST(TaktInferTest, PassesTheVideoWithTheTensorsAsMeta) {
  Pipeline pipeline(Description(""));
  ASSERT_TRUE(pipeline.Play());
  pipeline.Push(0x0f, 0);
  GstSample* sample = pipeline.Pull();
  ASSERT_NE(sample, nullptr);
  GstBuffer* buffer = gst_sample_get_buffer(sample);
  EXPECT_EQ(BytesOf(buffer), std::vector<uint8_t>(kFrameBytes, 0x0f));
  GstCustomMeta* meta = gst_buffer_get_custom_meta(buffer, "TaktTensorsMeta");
  ASSERT_NE(meta, nullptr);
  GstStructure* fields = gst_custom_meta_get_structure(meta);
  guint count = 0;
  EXPECT_TRUE(gst_structure_get_uint(fields, "count", &count));
  EXPECT_EQ(count, 1u);
  EXPECT_STREQ(gst_structure_get_string(fields, "type-0"), "1x48x64x3xi8");
  GstBuffer* data = nullptr;
  ASSERT_TRUE(
      gst_structure_get(fields, "data-0", GST_TYPE_BUFFER, &data, nullptr));
  EXPECT_EQ(BytesOf(data), std::vector<uint8_t>(kFrameBytes, 0xf0));
  gst_buffer_unref(data);
  gst_sample_unref(sample);
  EXPECT_EQ(pipeline.Count("infer", "frames"), 1u);
}

// The results outlive the element: they are its memory, not a copy.
TEST(TaktInferTest, GivesTensorsThatOutliveIt) {
  GstSample* sample = nullptr;
  {
    Pipeline pipeline(Description("output=tensors"));
    ASSERT_TRUE(pipeline.Play());
    pipeline.Push(0x55, 0);
    sample = pipeline.Pull();
  }
  ASSERT_NE(sample, nullptr);
  const GstStructure* caps =
      gst_caps_get_structure(gst_sample_get_caps(sample), 0);
  EXPECT_STREQ(gst_structure_get_name(caps), "application/x-takt-tensors");
  EXPECT_STREQ(gst_structure_get_string(caps, "types"), "1x48x64x3xi8");
  EXPECT_EQ(BytesOf(gst_sample_get_buffer(sample)),
            std::vector<uint8_t>(kFrameBytes, 0xaa));
  gst_sample_unref(sample);
}

// The picture and its inverse, each half.
TEST(TaktInferTest, DrawsTheResultsOverTheVideo) {
  Pipeline pipeline(Description("output=overlay"));
  ASSERT_TRUE(pipeline.Play());
  pipeline.Push(0x0f, 0);
  GstSample* sample = pipeline.Pull();
  ASSERT_NE(sample, nullptr);
  GstBuffer* buffer = gst_sample_get_buffer(sample);
  EXPECT_EQ(BytesOf(buffer), std::vector<uint8_t>(kFrameBytes, 0x80));
  EXPECT_NE(gst_buffer_get_custom_meta(buffer, "TaktTensorsMeta"), nullptr);
  gst_sample_unref(sample);
}

// The frame that another branch has as well is not drawn on.
TEST(TaktInferTest, LeavesAFrameOfAnotherBranchAsItIs) {
  Pipeline pipeline(
      kSource +
      std::string("tee name=t  t. ! queue ! appsink name=plain "
                  "sync=false async=false  t. ! queue ! taktinfer "
                  "output=overlay function=invert module=") +
      kInvert + " ! appsink name=sink sync=false");
  ASSERT_TRUE(pipeline.Play());
  pipeline.Push(0x0f, 0);
  GstSample* drawn = pipeline.Pull();
  GstSample* plain = gst_app_sink_try_pull_sample(
      GST_APP_SINK(pipeline.Find("plain")), 10 * GST_SECOND);
  ASSERT_NE(drawn, nullptr);
  ASSERT_NE(plain, nullptr);
  EXPECT_EQ(BytesOf(gst_sample_get_buffer(drawn)),
            std::vector<uint8_t>(kFrameBytes, 0x80));
  EXPECT_EQ(BytesOf(gst_sample_get_buffer(plain)),
            std::vector<uint8_t>(kFrameBytes, 0x0f));
  gst_sample_unref(drawn);
  gst_sample_unref(plain);
}

// A source that asks how its frames should lie gives such that are not copied.
TEST(TaktInferTest, UsesTheFramesOfASourceWhereTheyLie) {
  Pipeline pipeline(
      "videotestsrc num-buffers=5 ! "
      "video/x-raw,format=RGB,width=64,height=48 ! taktinfer name=infer "
      "function=invert module=" +
      std::string(kInvert) + " ! appsink name=sink sync=false");
  ASSERT_TRUE(pipeline.Play());
  for (int i = 0; i < 5; ++i) {
    GstSample* sample = pipeline.Pull();
    ASSERT_NE(sample, nullptr);
    gst_sample_unref(sample);
  }
  EXPECT_EQ(pipeline.Count("infer", "frames"), 5u);
  EXPECT_EQ(pipeline.Count("infer", "copied"), 0u);
}

TEST(TaktInferTest, CopiesAFrameThatBeginsAnywhere) {
  Pipeline pipeline(Description("output=tensors"));
  ASSERT_TRUE(pipeline.Play());
  GstAllocationParams parameters;
  gst_allocation_params_init(&parameters);
  parameters.align = 63;
  parameters.prefix = 3;
  GstBuffer* buffer =
      gst_buffer_new_allocate(nullptr, kFrameBytes, &parameters);
  gst_buffer_memset(buffer, 0, 0x11, kFrameBytes);
  gst_app_src_push_buffer(GST_APP_SRC(pipeline.Find("source")), buffer);
  GstSample* sample = pipeline.Pull();
  ASSERT_NE(sample, nullptr);
  EXPECT_EQ(BytesOf(gst_sample_get_buffer(sample)),
            std::vector<uint8_t>(kFrameBytes, 0xee));
  gst_sample_unref(sample);
  EXPECT_EQ(pipeline.Count("infer", "copied"), 1u);
}

// same.vmfb returns its input. The frames are gone when their results are read.
TEST(TaktInferTest, GivesResultsThatDoNotReferToTheFrame) {
  Pipeline pipeline(kSource +
                    std::string("taktinfer name=infer output=tensors "
                                "function=same module=") +
                    kSame + " ! appsink name=sink sync=false");
  ASSERT_TRUE(pipeline.Play());
  std::vector<GstSample*> samples;
  for (int i = 0; i < 4; ++i) {
    pipeline.Push(uint8_t(i), 0);
    samples.push_back(pipeline.Pull());
    ASSERT_NE(samples.back(), nullptr);
  }
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(BytesOf(gst_sample_get_buffer(samples[size_t(i)])),
              std::vector<uint8_t>(kFrameBytes, uint8_t(i)));
    gst_sample_unref(samples[size_t(i)]);
  }
}

TEST(TaktInferTest, NegotiatesTheSizeOfTheModule) {
  Pipeline pipeline(
      "videotestsrc num-buffers=2 ! videoconvert ! videoscale ! taktinfer "
      "name=infer function=detect module=" +
      std::string(kDetect) + " ! appsink name=sink sync=false");
  ASSERT_TRUE(pipeline.Play());
  GstSample* sample = pipeline.Pull();
  ASSERT_NE(sample, nullptr);
  int width = 0, height = 0;
  const GstStructure* caps =
      gst_caps_get_structure(gst_sample_get_caps(sample), 0);
  gst_structure_get_int(caps, "width", &width);
  gst_structure_get_int(caps, "height", &height);
  EXPECT_EQ(width, 192);
  EXPECT_EQ(height, 192);
  gst_sample_unref(sample);
}

TEST(TaktInferTest, ElementsOfANameShareAnInstance) {
  const std::string infer =
      std::string(" ! taktinfer function=invert module=") + kInvert +
      " instance-name=";
  Pipeline pipeline(kSource + std::string("identity") + infer + "a name=one" +
                    infer + "a name=two" + infer +
                    "b name=other ! appsink name=sink sync=false");
  ASSERT_TRUE(pipeline.Play());
  pipeline.Push(1, 0);
  GstSample* sample = pipeline.Pull();
  ASSERT_NE(sample, nullptr);
  gst_sample_unref(sample);
  guint users = 0;
  for (const char* name : {"one", "two"}) {
    g_object_get(pipeline.Find(name), "instance-users", &users, nullptr);
    EXPECT_EQ(users, 2u) << name;
  }
  g_object_get(pipeline.Find("other"), "instance-users", &users, nullptr);
  EXPECT_EQ(users, 1u);
}

TEST(TaktInferTest, RefusesASecondPolicyOfAnInstance) {
  const std::string infer =
      std::string(" ! taktinfer function=invert module=") + kInvert +
      " instance-name=c policy=";
  Pipeline pipeline(kSource + std::string("identity") + infer + "edf" + infer +
                    "fifo ! appsink name=sink sync=false");
  EXPECT_FALSE(pipeline.Play());
  const std::string error = pipeline.WaitForError();
  EXPECT_NE(error.find("instance \"c\": expected the policy"),
            std::string::npos)
      << error;
}

TEST(TaktInferTest, NamesTheModuleThatItCannotLoad) {
  Pipeline pipeline(
      kSource +
      std::string("taktinfer module=/no/such.vmfb ! appsink name=sink"));
  EXPECT_FALSE(pipeline.Play());
  const std::string error = pipeline.WaitForError();
  EXPECT_NE(error.find("/no/such.vmfb"), std::string::npos) << error;
}

TEST(TaktInferTest, RefusesAFunctionWithoutAPicture) {
  Pipeline pipeline(kSource + std::string("taktinfer function=act module=") +
                    TAKT_TESTDATA_DIR +
                    "/workload/policy.cpu.vmfb ! appsink name=sink");
  EXPECT_FALSE(pipeline.Play());
  const std::string error = pipeline.WaitForError();
  EXPECT_NE(error.find("expected 1xHxWx3"), std::string::npos) << error;
  EXPECT_NE(error.find("1x64xf32"), std::string::npos) << error;
}

// Counts the QoS events that reach the source.
GstPadProbeReturn CountQos(GstPad*, GstPadProbeInfo* info, gpointer count) {
  if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_QOS) {
    ++*static_cast<std::atomic<int>*>(count);
  }
  return GST_PAD_PROBE_OK;
}

class LateTest : public testing::TestWithParam<bool> {};

// Frames of time 0 are 10 s late, those of time 60 s are not. The first frame
// is for the change to PLAYING; before it no frame is late.
TEST_P(LateTest, LateFramesAreReportedAndDroppedIfAsked) {
  const bool drops = GetParam();
  Pipeline pipeline(Description(drops ? "drop-late=true" : "drop-late=false"));
  std::atomic<int> event_count = 0;
  GstPad* pad = gst_element_get_static_pad(pipeline.Find("source"), "src");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, CountQos,
                    &event_count, nullptr);
  gst_object_unref(pad);
  pipeline.BeginLate(10 * GST_SECOND);
  ASSERT_TRUE(pipeline.Play());
  pipeline.Push(8, 60 * GST_SECOND);
  ASSERT_EQ(
      gst_element_get_state(pipeline.get(), nullptr, nullptr, 10 * GST_SECOND),
      GST_STATE_CHANGE_SUCCESS);
  for (int i = 0; i < 3; ++i) pipeline.Push(uint8_t(i), 0);
  pipeline.Push(9, 60 * GST_SECOND);
  pipeline.EndOfStream();
  std::vector<int> firsts;
  for (GstSample* sample = pipeline.Pull(); sample != nullptr;
       sample = pipeline.Pull()) {
    firsts.push_back(BytesOf(gst_sample_get_buffer(sample))[0]);
    gst_sample_unref(sample);
  }
  if (drops) {
    EXPECT_EQ(firsts, std::vector<int>({8, 9}));
  } else {
    EXPECT_EQ(firsts, std::vector<int>({8, 0, 1, 2, 9}));
  }
  EXPECT_EQ(pipeline.Count("infer", "dropped"), drops ? 3u : 0u);
  EXPECT_EQ(pipeline.Count("infer", "late"), drops ? 0u : 3u);
  EXPECT_EQ(pipeline.Count("infer", "frames"), drops ? 2u : 5u);
  EXPECT_EQ(event_count, 3);
  GstMessage* message = pipeline.Wait(GST_MESSAGE_QOS);
  ASSERT_NE(message, nullptr);
  gint64 jitter = 0;
  gst_message_parse_qos_values(message, &jitter, nullptr, nullptr);
  EXPECT_GT(jitter, gint64(9 * GST_SECOND));
  gst_message_unref(message);
}

INSTANTIATE_TEST_SUITE_P(Drop, LateTest, testing::Bool());

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
